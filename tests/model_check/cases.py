# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is explored: every case is one driver with one shape, under both memory models."""

import dataclasses
import pathlib
import re

from case_shapes import ALL, Case, FLAT2, FLAT3, FLAT4, LONG, NAPS, shape
from collective_cases import COLLECTIVES, ONE_WAY

BARRIER = pathlib.Path(__file__).resolve().parents[2] / "runtime/barrier"


def _engine(name, about, parents, *, quick=True, kills=True, **others):
    return Case("engine." + name, "engine.cpp", about, shape(parents, **others), quick, kills)


ENGINE = [
    _engine("pair", "two leaders on one line", FLAT2, episodes=3),
    _engine("pair.asleep", "both sleep in every wait", FLAT2, episodes=3, sleepers=ALL[2]),
    _engine(
        "pair.spurious",
        "the same, woken for no reason at any time",
        FLAT2,
        episodes=2,
        sleepers=ALL[2],
        **NAPS,
        kills=False,
    ),
    _engine("exchange3", "three leaders", FLAT3, episodes=2, **LONG),
    _engine("exchange3.once", "the same, one episode", FLAT3, episodes=1),
    _engine("exchange3.asleep", "one of them sleeps", FLAT3, episodes=1, sleepers=0b010),
    _engine(
        "exchange3.all-asleep", "all of them sleep", FLAT3, episodes=1, sleepers=ALL[3], **LONG
    ),
    _engine(
        "exchange3.twice-asleep",
        "one of them sleeps, two episodes",
        FLAT3,
        episodes=2,
        sleepers=0b010,
        **LONG,
    ),
    _engine(
        "exchange3.spurious",
        "one of them sleeps, woken for no reason",
        FLAT3,
        episodes=1,
        sleepers=0b010,
        **NAPS,
        **LONG,
    ),
    _engine("exchange4", "four leaders", FLAT4, episodes=1, **LONG),
    _engine("tree3", "a parent, two children, a flag each", (0, 0, 0), episodes=3),
    _engine("tree3.lines", "the same, one line for both", (0, 0, 0), episodes=3, lines=1),
    _engine("tree3.asleep", "a child sleeps", (0, 0, 0), episodes=2, sleepers=0b010),
    _engine("tree3.parent-asleep", "the parent sleeps", (0, 0, 0), episodes=2, sleepers=0b001),
    _engine("tree3.lines.asleep", "a child sleeps", (0, 0, 0), episodes=2, sleepers=0b010, lines=1),
    _engine(
        "tree3.spurious",
        "a child sleeps, woken for no reason",
        (0, 0, 0),
        episodes=1,
        sleepers=0b010,
        **NAPS,
    ),
    _engine(
        "tree3.all-asleep", "all of them sleep", (0, 0, 0), episodes=2, sleepers=ALL[3], **LONG
    ),
    _engine("chain3", "three generations", (0, 0, 1), episodes=3),
    _engine("chain3.asleep", "the one between sleeps", (0, 0, 1), episodes=2, sleepers=0b010),
    _engine(
        "chain3.all-asleep", "all of them sleep", (0, 0, 1), episodes=1, sleepers=ALL[3], **LONG
    ),
    _engine(
        "tree4", "a parent, three children, a flag each", (0, 0, 0, 0), episodes=2, kills=False
    ),
    _engine(
        "tree4.lines", "the same, one line for all", (0, 0, 0, 0), episodes=2, lines=1, kills=False
    ),
    _engine(
        "tree4.lines.asleep",
        "two children sleep",
        (0, 0, 0, 0),
        episodes=1,
        sleepers=0b0110,
        lines=1,
        **LONG,
    ),
    _engine(
        "tree4.asleep", "two children sleep", (0, 0, 0, 0), episodes=2, sleepers=0b0110, **LONG
    ),
    _engine("leaders2", "two leaders, a child of one", (0, 1, 0), episodes=2),
    _engine("leaders2.asleep", "its parent sleeps", (0, 1, 0), episodes=1, sleepers=0b001),
    _engine("leaders2.four", "two leaders, a child each", (0, 1, 0, 1), episodes=2, kills=False),
    _engine(
        "leaders2.four.asleep",
        "a leader and a child sleep",
        (0, 1, 0, 1),
        episodes=1,
        sleepers=0b0110,
        **LONG,
    ),
    _engine("crews3", "crews of two and one", FLAT3, crews=(0, 0, 2), episodes=2),
    _engine(
        "crews3.asleep", "two of them sleep", FLAT3, crews=(0, 0, 2), episodes=1, sleepers=0b011
    ),
    _engine(
        "crews3.all-asleep",
        "all of them sleep",
        FLAT3,
        crews=(0, 0, 2),
        episodes=1,
        sleepers=ALL[3],
        **LONG,
    ),
    _engine("crews4", "two crews of two", FLAT4, crews=(0, 0, 2, 2), episodes=1, kills=False),
    _engine(
        "crews4.asleep",
        "one of each crew sleeps",
        FLAT4,
        crews=(0, 0, 2, 2),
        episodes=1,
        sleepers=0b0101,
        **LONG,
    ),
    _engine("split2", "gather and release", FLAT2, episodes=3, split=0b111),
    _engine("split3", "the same, three leaders", FLAT3, episodes=2, split=0b11),
    _engine("split3.asleep", "a leader sleeps", FLAT3, episodes=2, split=0b11, sleepers=0b010),
    _engine(
        "split3.all-asleep",
        "all of them sleep",
        FLAT3,
        episodes=2,
        split=0b11,
        sleepers=ALL[3],
        **LONG,
    ),
    _engine(
        "split3.mixed",
        "gather and release, then a crossing, then both again",
        FLAT3,
        episodes=3,
        split=0b101,
        **LONG,
    ),
    _engine("split3.tree", "gather and release along a chain", (0, 0, 1), episodes=2, split=0b01),
    _engine(
        "split2.mixed.asleep",
        "in turn with crossings, both sleep",
        FLAT2,
        episodes=3,
        split=0b010,
        sleepers=ALL[2],
    ),
    _engine(
        "split3.crews",
        "crews cross and gather in turn",
        FLAT3,
        crews=(0, 0, 2),
        episodes=3,
        split=0b010,
    ),
]


def _fenced(name, about, parents, **others):
    """The engine where sleepers fence."""
    return _engine("sleepers-fence." + name, about, parents, fencing=1, **others)


SLEEPERS_FENCE = [
    _fenced("pair", "two leaders, an arrival is a store", FLAT2, episodes=3),
    _fenced("pair.asleep", "both sleep in every wait", FLAT2, episodes=2, sleepers=ALL[2]),
    _fenced(
        "pair.announced",
        "one sleeps, twice under one announcement",
        FLAT2,
        episodes=1,
        sleepers=0b01,
        **NAPS,
        announced=1,
    ),
    _fenced("exchange3", "three leaders", FLAT3, episodes=1),
    _fenced("exchange3.asleep", "one of them sleeps", FLAT3, episodes=1, sleepers=0b010),
    _fenced("tree3.asleep", "a child sleeps", (0, 0, 0), episodes=2, sleepers=0b010),
    _fenced(
        "tree3.announced",
        "a child sleeps, twice under one announcement",
        (0, 0, 0),
        episodes=1,
        sleepers=0b010,
        **NAPS,
        announced=1,
    ),
    _fenced("tree3.parent-asleep", "the parent sleeps", (0, 0, 0), episodes=1, sleepers=0b001),
    _fenced(
        "tree3.lines.asleep",
        "a child sleeps, one line for both",
        (0, 0, 0),
        episodes=2,
        sleepers=0b010,
        lines=1,
    ),
    _fenced("chain3.asleep", "the one between sleeps", (0, 0, 1), episodes=1, sleepers=0b010),
    _fenced(
        "leaders2.asleep",
        "two leaders, a child of one; its parent sleeps",
        (0, 1, 0),
        episodes=1,
        sleepers=0b001,
    ),
    _fenced(
        "split2.mixed.asleep",
        "a crossing, then gather and release, both sleep",
        FLAT2,
        episodes=2,
        split=0b10,
        sleepers=ALL[2],
    ),
    _fenced(
        "split2.mixed.again",
        "gather and release, then a crossing, both sleep",
        FLAT2,
        episodes=2,
        split=0b01,
        sleepers=ALL[2],
    ),
    _fenced(
        "split3.asleep",
        "gather and release, a leader sleeps",
        FLAT3,
        episodes=2,
        split=0b11,
        sleepers=0b010,
    ),
]


def _parking(name, about, **others):
    return Case(
        "parking." + name,
        "parking.cpp",
        about,
        shape((0, 1), sleepers=0b01, kernel_queue=1, **others),
    )


def _announced(name, **others):
    about = "two sleeps under one announcement"
    return _parking(name, about, **NAPS, announced=1, **others)


PARKING = [
    _parking("arrival", "a sleeper, a writer, the kernel's queue", release=0),
    _parking("arrival.spurious", "woken for no reason", release=0, **NAPS),
    _parking("release", "the same of a release", release=1),
    _parking("release.spurious", "woken for no reason", release=1, **NAPS),
    _parking(
        "stored-arrival",
        "a sleeper that fences, a writer, the kernel's queue",
        release=0,
        fencing=1,
    ),
    _parking("stored-arrival.spurious", "woken for no reason", release=0, fencing=1, **NAPS),
    _parking("fenced-release", "the same of a release", release=1, fencing=1),
    _announced("arrival.announced", release=0),
    _announced("release.announced", release=1),
    _announced("stored-arrival.announced", release=0, fencing=1),
    _announced("fenced-release.announced", release=1, fencing=1),
    Case(
        "parking.together",
        "parking_together.cpp",
        "two sleep in one place",
        shape((0, 1, 2), sleepers=0b011),
    ),
    Case(
        "parking.together.spurious",
        "parking_together.cpp",
        "woken for no reason",
        shape((0, 1, 2), sleepers=0b011, **NAPS),
        **LONG,
    ),
]

ABORT = [
    Case(
        "abort.arrival",
        "abort.cpp",
        "an abort while a leader sleeps for another",
        shape((0, 1)),
        real_mem=True,
    ),
    Case(
        "abort.release",
        "abort.cpp",
        "an abort while a parent sleeps for a child",
        shape((0, 0)),
        real_mem=True,
    ),
]

MPI = [
    Case(
        "mpi.segment_allocator.reuse",
        "segment_allocator_reuse.cpp",
        "two let go of units, a third claims both",
        shape((0, 1, 2)),
    ),
    Case(
        "mpi.segment_allocator.reuse4",
        "segment_allocator_reuse.cpp",
        "three let go of units, a fourth claims all",
        shape((0, 1, 2, 3)),
        **LONG,
    ),
    Case(
        "mpi.segment_allocator.turns",
        "segment_allocator_turns.cpp",
        "two have the same unit in turn",
        shape((0, 1)),
    ),
    Case(
        "mpi.segment_allocator.claim",
        "segment_allocator_claim.cpp",
        "one claims two units, another each of the two",
        shape((0, 1), searches=1),
    ),
    Case(
        "mpi.segment_allocator.claim.again",
        "segment_allocator_claim.cpp",
        "the same, searching again",
        shape((0, 1), searches=2),
        **LONG,
    ),
    Case(
        "mpi.block",
        "mpi_barrier_block.cpp",
        "two ranks cross asleep and detach, a third takes over",
        shape((0, 1, 2)),
        real_mem=True,
    ),
]


def _libomp(name, about, parents, plain, *, quick=True, kills=True, **others):
    return Case(
        "libomp." + name,
        "libomp/barrier.cpp",
        about,
        shape(parents, plain=plain, **others),
        quick,
        kills,
        real_mem=True,
    )


LIBOMP = [
    _libomp("pair", "two threads, a reduction", (0, 1), 0, episodes=3),
    _libomp("chain3", "the primary, one below it, one below that", (0, 0, 1), 0, episodes=2),
    _libomp("leaders3", "three leaders, a reduction", (0, 1, 2), 0, episodes=2),
    _libomp("plain.leaders3", "three leaders, a barrier with tasks", (0, 1, 2), 1, episodes=2),
    _libomp(
        "plain.leaders4", "four leaders, released along a tree", (0, 1, 2, 3), 1, episodes=2, **LONG
    ),
    _libomp("tree4", "two leaders, a child each", (0, 1, 0, 1), 0, episodes=2, **LONG),
    _libomp(
        "passed-on.leaders3",
        "three leaders, the second releases the third",
        (0, 1, 2),
        0,
        episodes=2,
        width=1,
    ),
    _libomp(
        "passed-on.tree3",
        "two children, the first releases the second",
        (0, 0, 0),
        0,
        episodes=2,
        width=1,
    ),
]


def _region(name, about, parents, *, quick=True, kills=True, **others):
    return Case(
        "region." + name,
        "libomp/region.cpp",
        about,
        shape(parents, **others),
        quick,
        kills,
        real_mem=True,
    )


REGION = [
    _region("pair", "two threads, lean regions, then an ordinary release", (0, 1), episodes=3),
    _region("chain3", "the one between passes the region on", (0, 0, 1), episodes=2, **LONG),
    _region("leaders3", "three leaders", (0, 1, 2), episodes=2, **LONG),
    _region(
        "passed-on.leaders3",
        "three leaders, the second releases the third",
        (0, 1, 2),
        episodes=1,
        width=1,
    ),
    _region(
        "passed-on.tree3",
        "two children, the first releases the second",
        (0, 0, 0),
        episodes=1,
        width=1,
    ),
    _region(
        "passed-on.leaders3.twice",
        "three leaders, the second releases the third, two regions",
        (0, 1, 2),
        episodes=2,
        width=1,
        **LONG,
    ),
    _region(
        "passed-on.leaders4",
        "four leaders, each releases the next",
        (0, 1, 2, 3),
        episodes=1,
        width=1,
        **LONG,
    ),
]


def _listed_baselines():
    """The name, the header and the class of each barrier of HIERBAR_ALGORITHMS but the engine."""
    listed = (BARRIER / "algorithm_names.hpp").read_text(encoding="utf-8")
    headers = sorted((BARRIER / "baselines").glob("*.hpp"))
    rows = re.findall(r'X\(k\w+, "([a-z0-9-]+)", (.*?)\) *(?:\\\n|\n)', listed)
    assert len(rows) == listed.count("X(k"), "a row of HIERBAR_ALGORITHMS is not understood"
    for name, barrier in rows:
        if name == "hier":
            continue
        is_class = re.compile(rf"class {barrier.partition('<')[0]} ")
        (header,) = (path.name for path in headers if is_class.search(path.read_text()))
        yield name, header, re.sub(r"\bMem\b", "ModelMem", barrier)


def _baselines():
    for name, header, barrier in _listed_baselines():

        def case(suffix, about, parents, **others):
            return Case(
                f"baseline.{name}.{suffix}",
                "baselines.cpp",
                about,
                shape(parents, header=f'"barrier/baselines/{header}"', barrier=barrier, **others),
            )

        yield case(
            "3", "three participants", (0, 0, 0), episodes=3 if name != "sense-reversing" else 2
        )
        yield case("2.asleep", "two, both sleep", (0, 0), episodes=2, sleepers=ALL[2])
        yield case("3.asleep", "three, one sleeps", (0, 0, 0), episodes=1, sleepers=0b010)
        yield dataclasses.replace(
            case("4", "four participants", (0, 0, 0, 0), episodes=1), kills=False
        )


CASES = [
    *ENGINE,
    *SLEEPERS_FENCE,
    *COLLECTIVES,
    *ONE_WAY,
    *PARKING,
    *ABORT,
    *MPI,
    *LIBOMP,
    *REGION,
    *_baselines(),
]
