#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the first parallel region of a process with and without KMP_BARRIER=hier, on one library.

    first_region_test.py --lib-dir build/release/lib first_region

Both take turns, 11 times each, so that a busy machine is busy for both. Fails when the medians differ by more than 5 ms.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys

import run_omp_test

REPETITIONS = 11
LIMIT_MS = 5.0


def first_region_ms(program, num_threads, environment):
    done = subprocess.run([program, str(num_threads)], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True, timeout=60, check=True)
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib-dir", type=pathlib.Path, required=True, help="where libomp.so is")
    parser.add_argument("program", help="first_region")
    arguments = parser.parse_args()
    hier = run_omp_test.make_environment(arguments.lib_dir, ["HIERBAR_VERBOSE"])
    stock = run_omp_test.make_environment(arguments.lib_dir, ["HIERBAR_VERBOSE", "KMP_BARRIER"])

    failed = False
    for num_threads in (2, 8):
        times = {"hier": [], "stock": []}
        for _ in range(REPETITIONS):
            times["hier"].append(first_region_ms(arguments.program, num_threads, hier))
            times["stock"].append(first_region_ms(arguments.program, num_threads, stock))
        medians = {name: statistics.median(values) for name, values in times.items()}
        difference = medians["hier"] - medians["stock"]
        print(f"{num_threads} threads: hier {medians['hier']:.3f} ms, stock {medians['stock']:.3f} ms, difference "
              f"{difference:.3f} ms (limit {LIMIT_MS:g})")
        failed |= difference > LIMIT_MS
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
