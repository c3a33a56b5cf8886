#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program that GCC compiled on GCC's own library and on ours, and compares what it prints.

    same_as_libgomp.py --libgomp /usr/lib/gcc/.../libgomp.so.1 -- program argument...

Ours is the one that LD_LIBRARY_PATH leads to. The program runs there three times, and the last line
that differs is shown. A program that cannot run here returns 77, and so does this script. Exit
status: 0 equal, 1 not.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
NUM_RUNS = 3
OPENMP_VARIABLES = ("KMP_", "HIERBAR_", "LIBOMP_")


def run(command, environment, what):
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode == SKIPPED:
        print(result.stdout)
        sys.exit(SKIPPED)
    if result.returncode != 0:
        print(f"{what}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
        sys.exit(1)
    sys.stderr.write(result.stderr)
    return result.stdout


def run_on_libgomp(command, libgomp):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(OPENMP_VARIABLES)
    }
    with tempfile.TemporaryDirectory() as directory:
        os.symlink(libgomp.resolve(), pathlib.Path(directory, "libgomp.so.1"))
        return run(command, environment | {"LD_LIBRARY_PATH": directory}, "GCC's library")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--libgomp", type=pathlib.Path, required=True, help="GCC's library")
    parser.add_argument("command", nargs="+", help="the program and its arguments")
    arguments = parser.parse_args()
    expected = run_on_libgomp(arguments.command, arguments.libgomp)
    if not expected.strip():
        print("the program prints nothing to compare")
        return 1
    for number in range(1, NUM_RUNS + 1):
        actual = run(arguments.command, os.environ, f"run {number} on ours")
        if actual != expected:
            print(
                f"run {number} on ours differs from GCC's library:\n--- GCC's\n{expected}--- ours\n{actual}"
            )
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
