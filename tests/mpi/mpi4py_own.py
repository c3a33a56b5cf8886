# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs mpi4py's own tests of these modules in all ranks.

    mpi4py_own.py DIRECTORY FILE {write|compare} MODULE...

DIRECTORY holds the modules. Which tests failed, in whichever rank, is written to FILE, or compared with what stands there: with
`compare` it is an error if a test fails that did not fail then, or if another number of tests ran.
"""

import json
import pathlib
import sys
import unittest

from mpi4py import MPI


def run(directory, modules):
    """Returns how many tests ran here, how many were skipped, and the names of those that failed."""
    sys.path.insert(0, str(directory))
    result = unittest.TestResult()
    unittest.TestLoader().loadTestsFromNames(modules).run(result)
    problems = result.failures + result.errors
    for test, text in problems:
        print(f"{test.id()}\n{text}", flush=True)
    return result.testsRun, len(result.skipped), sorted(test.id() for test, _ in problems)


def main():
    directory, file, mode, *modules = sys.argv[1:]
    assert MPI.Query_thread() == MPI.THREAD_MULTIPLE
    numbers_run, numbers_skipped, failed = zip(*MPI.COMM_WORLD.allgather(run(pathlib.Path(directory), modules)))
    found = {"run": numbers_run, "skipped": numbers_skipped, "failed": sorted(set().union(*failed))}
    found = json.loads(json.dumps(found))
    if MPI.COMM_WORLD.rank == 0:
        print(f"mpi4py's tests: {found}", flush=True)
    if min(numbers_run) - max(numbers_skipped) <= 0:
        sys.exit("no test ran")
    if mode == "compare":
        before = json.loads(pathlib.Path(file).read_text())
        if set(found["failed"]) - set(before["failed"]) or found["run"] != before["run"] or found["skipped"] != before["skipped"]:
            sys.exit(f"without the shim: {before}")
    elif MPI.COMM_WORLD.rank == 0:
        pathlib.Path(file).write_text(json.dumps(found))


main()
