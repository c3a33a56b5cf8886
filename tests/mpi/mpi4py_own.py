# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs mpi4py's own tests in all ranks.

    mpi4py_own.py DIRECTORY FILE LEFT_OUT TEST...

DIRECTORY holds the modules; a TEST is a module, a class in it, or a method of that. LEFT_OUT are
methods that are not run, with commas between them, or nothing. FILE gets a JSON object with the
code of each method that was run: FAIL if it failed in whichever rank, SKIPPED if no rank ran it,
else PASS.
"""

import json
import pathlib
import sys
import unittest

from mpi4py import MPI


class Recorder(unittest.TestResult):
    """Keeps the code of every test by its name."""

    def __init__(self):
        super().__init__()
        self.codes = {}

    def startTest(self, test):
        super().startTest(test)
        self.codes[test.id()] = "PASS"

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.codes[test.id()] = "SKIPPED"

    def close(self):
        """Failures of subtests and of what sets up a class have names of their own."""
        for test, text in self.failures + self.errors:
            print(f"{test.id()}\n{text}", flush=True)
            self.codes[getattr(test, "test_case", test).id()] = "FAIL"
        for test in self.unexpectedSuccesses:
            self.codes[test.id()] = "FAIL"
        return self.codes


def tests_of(suite):
    """The tests of a suite of suites, one after the other."""
    for test in suite:
        yield from tests_of(test) if isinstance(test, unittest.TestSuite) else [test]


def run(directory, left_out, names):
    sys.path.insert(0, str(directory))
    recorder = Recorder()
    tests = tests_of(unittest.TestLoader().loadTestsFromNames(names))
    unittest.TestSuite(test for test in tests if test.id() not in left_out).run(recorder)
    return recorder.close()


def merge(all_codes):
    """The codes of all ranks as one."""
    merged = {}
    for codes in all_codes:
        for test, code in codes.items():
            merged[test] = min(code, merged.get(test, code))  # "FAIL" < "PASS" < "SKIPPED"
    return merged


def main():
    directory, file, left_out, *names = sys.argv[1:]
    assert MPI.Query_thread() == MPI.THREAD_MULTIPLE
    all_codes = MPI.COMM_WORLD.gather(run(pathlib.Path(directory), left_out.split(","), names))
    if MPI.COMM_WORLD.rank == 0:
        pathlib.Path(file).write_text(json.dumps(merge(all_codes)))


main()
