#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs mpi4py's own tests under our shim and fails when a test fails there that passes without.

    check_mpi4py.py --python PYTHON --source DIR --mpi mpich --ranks 2 [TEST...]

tests/mpi/mpi4py_own_test.sh calls it with a Python that has mpi4py and with mpi4py's unpacked
sources. A TEST is a module, or a class or method in one; without any it is the whole suite. Each
module is a launch of its own, which counts as one test more: that it comes to an end.

tests/suites/mpi4py-<family>.txt says with causes what fails on the unmodified library, and which
modules and tests are not run. Exit status: 0 no regression, 1 regression, 2 the comparison could
not be made.
"""

import json
import pathlib
import sys

import known_failures
import mpi_comparison
from compare import CannotRun
from mpi_suite import MpiSuite

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "mpi" / "mpi4py_own.py"


class Mpi4pySuite(MpiSuite):
    def __init__(self, arguments, tests, left_out, work_dir, shim):
        super().__init__(f"mpi4py-{arguments.mpi}-{arguments.ranks}", arguments, work_dir, shim)
        self.tests = tests
        self._left_out = ",".join(left_out)
        self._codes_file = work_dir / f"{self.name}-codes.json"

    def launches(self, tests):
        """One group for each module."""
        modules = {}
        for test in tests:
            modules.setdefault(test.split(".")[0], []).append(test)
        return list(modules.values())

    def launch(self, tests, settings):
        self._codes_file.unlink(missing_ok=True)
        source = self._arguments.source / "test"
        command = [
            str(self._arguments.python),
            "-B",
            str(PROGRAM),
            str(source),
            str(self._codes_file),
            self._left_out,
            *tests,
        ]
        status, _ = self.run_program(
            " ".join(tests), command, self._arguments.ranks, settings, self._arguments.timeout
        )
        ending = "TIMEOUT" if status is None else "PASS" if status == 0 else "FAIL"
        codes = dict.fromkeys(tests, ending)
        if self._codes_file.exists():
            codes.update(json.loads(self._codes_file.read_text()))
        return codes


def select(arguments, known):
    """The tests to run. Prints which modules and methods are not run, and why."""
    modules = sorted(path.stem for path in (arguments.source / "test").glob("test_*.py"))
    print(f"hierbar: {len(known.not_run)} modules or tests are listed as not to be run:")
    print(
        "".join(f"  {test}: {cause}\n" for test, cause in known.not_run.items()), end="", flush=True
    )
    return arguments.tests or [module for module in modules if module not in known.not_run]


def check():
    parser = mpi_comparison.make_parser(__doc__)
    parser.add_argument("--python", type=pathlib.Path, required=True, help="has mpi4py")
    parser.add_argument(
        "--source", type=pathlib.Path, required=True, help="mpi4py's sources, unpacked"
    )
    parser.add_argument("--ranks", type=int, default=2, help="default: 2")
    parser.add_argument("tests", nargs="*", metavar="TEST")
    arguments = mpi_comparison.parse(parser)
    work_dir = arguments.build_dir / "suites" / "mpi4py"
    work_dir.mkdir(parents=True, exist_ok=True)
    known = known_failures.read(
        pathlib.Path(__file__).resolve().parent / f"mpi4py-{arguments.mpi}.txt"
    )
    tests = select(arguments, known)
    if not tests:
        raise CannotRun(
            f"--source '{arguments.source}': no test_*.py in {arguments.source / 'test'}"
        )

    ours = Mpi4pySuite(arguments, tests, known.not_run, work_dir, arguments.shim)
    stock = Mpi4pySuite(arguments, tests, known.not_run, work_dir, None)
    result = mpi_comparison.run(
        f"mpi4py's tests on {ours.version}, ranks: {arguments.ranks}",
        ours,
        stock,
        known.fails,
        arguments,
    )
    return mpi_comparison.finish(result, arguments)


if __name__ == "__main__":
    sys.exit(mpi_comparison.main(check))
