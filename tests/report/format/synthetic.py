# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What pages are tested with: reports of a machine that nobody has here, and costs of channels."""

import copy
import random

# Reports: 4 ranks of 128 threads, two packages of 8 L3 caches with 8 cores each.

THREADS, RANKS, EPISODES = 128, 4, 1000
# What must stay text in a page.
WORST_NAME = 'Solver<double, 3>::sweep(Grid const&, "x")+0x1a4 (heat & <b>mass</b>)'


def bucket_of(ns):
    """The shortest duration of the histogram's bucket; see runtime/trace/histogram.hpp."""
    shift = max(ns.bit_length() - 4, 0)
    return ns >> shift << shift


def times(values):
    """A histogram as reports have it."""
    ordered = sorted(values)
    buckets = {}
    for ns in ordered:
        buckets[bucket_of(ns)] = buckets.get(bucket_of(ns), 0) + 1
    at = lambda share: ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0
    return {
        "count": len(ordered),
        "sum": sum(ordered),
        "mean": sum(ordered) / max(len(ordered), 1),
        "p50": at(0.5),
        "p90": at(0.9),
        "p99": at(0.99),
        "p99.9": at(0.999),
        "max": ordered[-1] if ordered else 0,
        "buckets": [list(pair) for pair in buckets.items()],
    }


def around(numbers, ns, count=EPISODES):
    return times([int(numbers.lognormvariate(0, 0.35) * ns) for _ in range(count)])


def groups():
    """The first thread of each package gathers from its L3 cache and from the first threads of the
    others."""
    made = [{"level": 0, "unit": "machine", "threads": [0, 64]}]
    for first in range(0, THREADS, 8):
        if first % 64 != 0:
            made.append({"level": 2, "unit": "L3", "threads": list(range(first, first + 8))})
        else:
            made.append(
                {
                    "level": 1,
                    "unit": "package",
                    "threads": [*range(first, first + 8), *range(first + 8, first + 64, 8)],
                }
            )
    return made


def last_arrivals(rank):
    """The threads at the edges come last most often, thread 77 of rank 2 in half of all barriers;
    most threads never do."""
    counts = [0] * THREADS
    counts[0] = 450
    for thread in range(4 + rank, THREADS - 1, 3):
        counts[thread] = 1 + thread // 32
    counts[77] = 0
    if rank == 2:
        counts[0], counts[77] = 0, 500
    counts[THREADS - 1] = EPISODES - sum(counts)
    return counts


def site(numbers, rank, name, kind, sync_ns, levels, team_size=THREADS):
    counts = last_arrivals(rank)
    threads = [
        {
            "thread": thread,
            "last_arrivals": counts[thread],
            "tasks_ns": 40000 if kind == "workshare" else 0,
            "imbalance_ns": around(numbers, 3000 + 40 * abs(thread - 64), 20),
            "sync_ns": around(numbers, 900, 20),
        }
        for thread in range(THREADS)
    ]
    return {
        "site": name,
        "kind": kind,
        "team_size": team_size,
        "barriers": EPISODES,
        "tasks_ns": sum(t["tasks_ns"] for t in threads),
        "imbalance_ns": around(numbers, 4000),
        "sync_ns": around(numbers, sync_ns),
        "barrier_ns": around(numbers, 1.2 * sync_ns),
        "levels": [{"level": level, "ns": around(numbers, ns)} for level, ns in levels],
        "groups": groups() if levels else [],
        "threads": threads,
    }


LEVELS = [
    ("gather 2 (L3)", 70),
    ("gather 1 (package)", 130),
    ("exchange (machine)", 420),
    ("release 1 (package)", 150),
    ("release 2 (L3)", 80),
    ("outside", 60),
]


def report(header, rank):
    """`header`: a report of a real run, whose sites are replaced."""
    numbers = random.Random(rank)
    made = copy.deepcopy(header)
    made["process"].update(host=f"node{rank // 2}", rank=rank, pid=1000 + rank)
    made["clock"].update(resolution_ns=10.0, packages=2, offset_ns=38.0, offset_error_ns=9.0)
    made["placement"] = "128 threads at most, 128 cpus for the initial thread"
    made["sites"] = [
        site(numbers, rank, WORST_NAME, "explicit", 2000, LEVELS),
        site(numbers, rank, "assemble+0x88 (heat)", "workshare", 1500, []),
        # More threads than there are columns in a picture.
        site(numbers, rank, "heat+0x2f10", "parallel end", 900, [], team_size=200),
    ]
    return made


# Costs of shared channels as `hierbar tune --between-nodes --contention` writes them, of a made-up
# node.

MACHINE = "pack:2 l3:1 core:4 pu:1"
SIZES = [
    1024 << i for i in range(18)
]  # up to 128 MiB, the most that a file has unless sizes are named
PAIRS = [1, 2, 4, 8]


def slowdown(channel, pairs):
    """An L3 cache slows nobody down, packages are shared fairly, and the network collapses."""
    return {"l3": 1, "package": pairs, "network": pairs * (1 if pairs == 1 else 1.5)}[channel]


def table(channel, start_us, bytes_per_us):
    times = (
        (size, pairs, (start_us + size / bytes_per_us) * slowdown(channel, pairs))
        for size in SIZES
        for pairs in PAIRS
    )
    return {
        "channel": channel,
        "cells": [[size, pairs, 0.9 * us, us, 1.2 * us] for size, pairs, us in times],
    }


def costs(sample):
    """`sample` with these costs, for nodes like MACHINE."""
    sample["networks"][-1]["contention"] = {
        "machine": f"{MACHINE}, 8 cores",
        "single_copy": "cma",
        "tables": [table("l3", 1, 5000), table("package", 2, 3000), table("network", 100, 12.5)],
    }
    return sample
