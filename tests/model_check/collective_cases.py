# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of operations that carry data (barrier/collectives.hpp, barrier/one_way.hpp)."""

from case_shapes import ALL, Case, FLAT2, FLAT3, LONG, NAPS, shape


def _collective(name, about, parents, *, quick=True, kills=True, **others):
    return Case(
        "collectives." + name, "collectives.cpp", about, shape(parents, **others), quick, kills
    )


COLLECTIVES = [
    _collective("packets", "two leaders, a value each", FLAT2, episodes=3),
    _collective("packets.two", "the same, two packets", FLAT2, episodes=2, count=4),
    _collective("packets.asleep", "both sleep in every wait", FLAT2, episodes=2, sleepers=ALL[2]),
    _collective(
        "packets.two.asleep", "two packets, both sleep", FLAT2, episodes=1, count=4, sleepers=ALL[2]
    ),
    _collective("packets.fenced", "an arrival is a store", FLAT2, episodes=3, fencing=1),
    _collective(
        "packets.fenced.asleep",
        "the same, both sleep",
        FLAT2,
        episodes=2,
        fencing=1,
        sleepers=ALL[2],
    ),
    _collective(
        "packets.fenced.announced",
        "one sleeps, twice under one announcement",
        FLAT2,
        episodes=1,
        fencing=1,
        sleepers=0b01,
        **NAPS,
        announced=1,
    ),
    _collective("crews2", "the last of a crew of two folds", FLAT2, crews=(0, 0), episodes=3),
    _collective("crews2.asleep", "both sleep", FLAT2, crews=(0, 0), episodes=2, sleepers=ALL[2]),
    _collective("crews3", "crews of two and one", FLAT3, crews=(0, 0, 2), episodes=2),
    _collective("together3", "three leaders, each folds", FLAT3, episodes=1),
    _collective("tree3", "a parent folds, results go down", (0, 0, 0), episodes=3),
    _collective("chain3", "three generations", (0, 0, 1), episodes=3),
    _collective("leaders2", "two leaders, a child of one", (0, 1, 0), episodes=2),
    _collective("leaders2.asleep", "its parent sleeps", (0, 1, 0), episodes=1, sleepers=0b001),
    _collective("allgather.packets", "two leaders, a value each", FLAT2, episodes=3, exchange=1),
    _collective(
        "allgather.packets.asleep",
        "both sleep in every wait",
        FLAT2,
        episodes=2,
        exchange=1,
        sleepers=ALL[2],
    ),
    _collective(
        "allgather.crews2",
        "the last of a crew of two joins",
        FLAT2,
        crews=(0, 0),
        episodes=3,
        exchange=1,
    ),
    _collective("allgather.chain3", "three generations", (0, 0, 1), episodes=3, exchange=1),
    _collective(
        "allgather.leaders2", "two leaders, a child of one", (0, 1, 0), episodes=2, exchange=1
    ),
    _collective("alltoall.packets", "two leaders, a value each", FLAT2, episodes=3, exchange=2),
    _collective(
        "alltoall.packets.fenced.asleep",
        "both sleep, an arrival is a store",
        FLAT2,
        episodes=2,
        fencing=1,
        exchange=2,
        sleepers=ALL[2],
    ),
    _collective(
        "alltoall.crews3", "crews of two and one", FLAT3, crews=(0, 0, 2), episodes=2, exchange=2
    ),
    _collective("alltoall.together3", "three leaders", FLAT3, episodes=1, exchange=2),
    _collective("alltoall.tree3", "a parent, two children", (0, 0, 0), episodes=3, exchange=2),
    _collective(
        "alltoall.leaders2.asleep",
        "two leaders, a child of one; its parent sleeps",
        (0, 1, 0),
        episodes=1,
        exchange=2,
        sleepers=0b001,
    ),
    _collective(
        "reduce_scatter.packets", "two leaders, a value each", FLAT2, episodes=3, exchange=3
    ),
    _collective(
        "reduce_scatter.together3", "three leaders, each folds its part", FLAT3, episodes=1, exchange=3
    ),
    _collective("reduce_scatter.tree3", "a parent, two children", (0, 0, 0), episodes=3, exchange=3),
]


def _one_way(name, about, parents, *, quick=True, kills=True, **others):
    return Case("one-way." + name, "one_way.cpp", about, shape(parents, **others), quick, kills)


ONE_WAY = [
    _one_way("bcast", "three from one root, two slots", FLAT2, episodes=3),
    _one_way("bcast.asleep", "a reader sleeps", FLAT2, episodes=2, sleepers=0b10),
    _one_way("bcast.root-asleep", "the root sleeps for room", FLAT2, episodes=3, sleepers=0b01),
    _one_way("bcast.all-asleep", "both sleep", FLAT2, episodes=3, sleepers=ALL[2], **LONG),
    _one_way(
        "bcast.fenced.asleep",
        "a reader sleeps, and fences",
        FLAT2,
        episodes=2,
        fencing=1,
        sleepers=0b10,
    ),
    _one_way(
        "bcast.fenced.root-asleep",
        "the root sleeps, and fences",
        FLAT2,
        episodes=3,
        fencing=1,
        sleepers=0b01,
    ),
    _one_way("bcast.turns", "two roots in turn", FLAT2, episodes=4, roots=0b1010),
    _one_way("bcast3", "three participants", FLAT3, episodes=3, **LONG),
    _one_way("reduce", "three to one root", FLAT2, episodes=3, reduces=0b111),
    _one_way("reduce.asleep", "the root sleeps", FLAT2, episodes=3, reduces=0b111, sleepers=0b01),
    _one_way("both", "reduce and bcast in turn", FLAT2, episodes=4, reduces=0b0101, roots=0b0110),
    _one_way("gather", "three to one root", FLAT2, episodes=3, gathers=0b111),
    _one_way("gather.asleep", "the root sleeps", FLAT2, episodes=3, gathers=0b111, sleepers=0b01),
    _one_way("scatter", "three from one root", FLAT2, episodes=3, scatters=0b111),
    _one_way("scatter.asleep", "a reader sleeps", FLAT2, episodes=2, scatters=0b11, sleepers=0b10),
    _one_way(
        "scatter.gather",
        "a scatter and a gather in turn, two roots",
        FLAT2,
        episodes=4,
        scatters=0b0101,
        gathers=0b1010,
        roots=0b0110,
    ),
]
