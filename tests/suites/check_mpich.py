#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs MPICH's own tests under our shim and fails when a test fails there that passes without.

    check_mpich.py --mpi ompi --env HIERBAR_FAKE_NODES=2
    check_mpich.py --around --filter '^(coll|comm|topo)/'

1. Fetch the suite and build it with the family's compiler driver (mpich_tests.py says which
   folders).
2. Run each program at the number of ranks in its list, at most --max-ranks, under the shim with
   the given variables. Programs that need more have a line in the list of known failures.
3. Compare with the library without the shim, as compare.py does.

tests/suites/mpich-<family>.txt says with causes what fails on the unmodified library, what does
not compile with it, and what is not run. A program that cannot be built and is not in the list
is an error. Exit status: 0 no regression, 1 regression, 2 the comparison could not be made.
"""

import os
import pathlib
import re
import sys

import known_failures
import mpi_comparison
import mpich_tests
from compare import CannotRun
from mpi_suite import MpiSuite

NO_ERRORS = re.compile(r"^\s*(No [Ee]rrors|Test [Pp]assed)\s*$")


def judge(test, status, output):
    """The code of a test that ended like this. A test that passes prints that there were no errors,
    and nothing else."""
    if status is None:
        return "TIMEOUT"
    if test.must_fail:
        return "PASS" if status != 0 else "FAIL"
    lines = [line for line in output.splitlines() if line.strip()]
    return "PASS" if status == 0 and lines and all(map(NO_ERRORS.match, lines)) else "FAIL"


class MpichSuite(MpiSuite):
    def __init__(self, arguments, build, tests, work_dir, shim):
        around = [build.barriers_around()] if arguments.around else []
        name = f"mpich-tests-{arguments.mpi}" + ("-around" if around else "")
        super().__init__(name, arguments, work_dir, shim, around)
        self.tests = tests
        self._build = build

    def launch(self, tests, settings):
        test = self.tests[tests[0]]
        program = self._build.path(test.program)
        # The suite has longer limits for slow tests. More than twice ours would make a hang too
        # expensive.
        timeout = min(max(test.seconds, self._arguments.timeout), 2 * self._arguments.timeout)
        settings = [*settings, *test.variables]
        status, output = self.run_program(
            test.name,
            [str(program), *test.arguments],
            test.ranks,
            settings,
            timeout,
            test.launch_options,
            program.parent,
        )
        return {test.name: judge(test, status, output)}


def select(tests, known, build, pattern):
    """The tests to run. Prints which are not run, and why."""
    selected, excused, unknown = {}, [], []
    for name, test in tests.items():
        excuse = known.excuse(name)
        if excuse:
            excused.append(f"{name}: {excuse}")
        elif not build.is_built(test.program):
            unknown.append(f"{test.program}: {build.reason(test.program)}")
        elif re.search(pattern, name):
            selected[name] = test
    print(f"hierbar: {len(excused)} tests are listed as not to be run:")
    print("".join(f"  {line}\n" for line in excused), end="", flush=True)
    num_filtered = len(tests) - len(selected) - len(excused) - len(unknown)
    if num_filtered:
        print(f"hierbar: {num_filtered} tests are left out by --filter '{pattern}'", flush=True)
    if unknown:
        raise CannotRun(
            "these are not built and not in the list of known failures:\n"
            + "\n".join(dict.fromkeys(unknown))
        )
    return selected


def max_ranks(arguments):
    if arguments.max_ranks is not None:
        return arguments.max_ranks
    return min(4, max(2, len(os.sched_getaffinity(0)))) if arguments.mpi == "mpich" else 4


def check():
    parser = mpi_comparison.make_parser(__doc__)
    parser.add_argument(
        "--filter", metavar="REGEX", default="", help="only tests whose names match"
    )
    parser.add_argument(
        "--around",
        action="store_true",
        help="put barriers around the programs' collectives (barriers_around.c), with and without the shim",
    )
    parser.add_argument(
        "--max-ranks",
        type=int,
        metavar="N",
        help="of one program (default: "
        "4 for Open MPI; for MPICH, whose ranks keep their cpus while they wait, as many as cpus, from 2 to 4)",
    )
    arguments = mpi_comparison.parse(parser)
    work_dir = arguments.build_dir / "suites" / "mpich"
    work_dir.mkdir(parents=True, exist_ok=True)
    build = mpich_tests.Build(work_dir, arguments.mpi)
    build.make()
    known = known_failures.read(
        pathlib.Path(__file__).resolve().parent / f"mpich-{arguments.mpi}.txt"
    )
    tests = mpich_tests.read(
        build.source_dir, build.dir, mpich_tests.FOLDERS, max_ranks(arguments), known.max_ranks()
    )
    selected = select(tests, known, build, arguments.filter)
    if not selected:
        raise CannotRun(f"--filter '{arguments.filter}' lets no test through")

    ours = MpichSuite(arguments, build, selected, work_dir, arguments.shim)
    stock = MpichSuite(arguments, build, selected, work_dir, None)
    title = f"MPICH's test/mpi on {ours.version}" + (
        ", barriers around collectives" if arguments.around else ""
    )
    result = mpi_comparison.run(title, ours, stock, known.fails, arguments)
    if not arguments.filter:
        for line in known.stale(
            result["codes"],
            {test.program for test in tests.values() if build.is_built(test.program)},
            tests,
        ):
            print(f"hierbar: the list of known failures is out of date: {line}")
    return mpi_comparison.finish(result, arguments)


if __name__ == "__main__":
    sys.exit(mpi_comparison.main(check))
