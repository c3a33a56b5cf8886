#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the first parallel region of a process with and without KMP_BARRIER=hier, on one
library.

    first_region_test.py --lib-dir build/release/lib first_region

Both take turns, 11 times each, so that a busy machine is busy for both. Fails when the medians
differ by more than 5 ms. Where hwloc alone needs long to look at the machine, as with its plugins
installed (libhwloc-plugins), they may differ by that and 2 ms. Fails also when a team that needs no
machine loads hwloc.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys

import run_omp_test

REPETITIONS = 11
LIMIT_MS = 5.0
BESIDE_HWLOC_MS = 2.0
LARGEST_WITHOUT_TREE = 4  # threads of a team that is planned without hwloc


def run(program, num_threads, environment, **variables):
    return subprocess.run(
        [program, str(num_threads)],
        env=dict(environment, **variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )


def first_region_ms(program, num_threads, environment):
    return float(run(program, num_threads, environment).stdout)


def hwloc_ms(program, num_threads, environment):
    """How long hwloc took, as HIERBAR_VERBOSE=1 tells it."""
    times = []
    for _ in range(REPETITIONS):
        told = run(program, num_threads, environment, HIERBAR_VERBOSE="1").stderr
        times += [float(one) for one in re.findall(r"; loaded in ([\d.]+) ms$", told, re.MULTILINE)]
    return statistics.median(times)


def loads_hwloc(program, num_threads, environment):
    """Whether the loader opens hwloc for a program with such a team."""
    return "file=libhwloc.so" in run(program, num_threads, environment, LD_DEBUG="files").stderr


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lib-dir", type=pathlib.Path, required=True, help="where libomp.so is")
    parser.add_argument("program", help="first_region")
    arguments = parser.parse_args()
    hier = run_omp_test.make_environment(arguments.lib_dir, ["HIERBAR_VERBOSE"])
    stock = run_omp_test.make_environment(arguments.lib_dir, ["HIERBAR_VERBOSE", "KMP_BARRIER"])

    failed = False
    for num_threads in (LARGEST_WITHOUT_TREE, LARGEST_WITHOUT_TREE + 1):
        loads = loads_hwloc(arguments.program, num_threads, hier)
        print(f"{num_threads} threads: hwloc is {'loaded' if loads else 'not loaded'}")
        failed |= loads != (num_threads > LARGEST_WITHOUT_TREE)
    for num_threads in (2, 8):
        times = {"hier": [], "stock": []}
        for _ in range(REPETITIONS):
            times["hier"].append(first_region_ms(arguments.program, num_threads, hier))
            times["stock"].append(first_region_ms(arguments.program, num_threads, stock))
        medians = {name: statistics.median(values) for name, values in times.items()}
        difference = medians["hier"] - medians["stock"]
        limit = LIMIT_MS
        if num_threads > LARGEST_WITHOUT_TREE:
            limit = max(limit, hwloc_ms(arguments.program, num_threads, hier) + BESIDE_HWLOC_MS)
        print(
            f"{num_threads} threads: hier {medians['hier']:.3f} ms, stock {medians['stock']:.3f} ms, difference "
            f"{difference:.3f} ms (limit {limit:g})"
        )
        failed |= difference > limit
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
