# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What suites of MPI programs have in common: they run with or without a shim, one launch after the
other, each with a time limit."""

import collections
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import launcher
import run_mpi_test
from compare import CannotRun, failed


def library_version(arguments):
    """The version of the MPI library, as its launcher prints it."""
    command = [arguments.mpiexec or launcher.LAUNCHERS[arguments.mpi], "--version"]
    try:
        output = subprocess.run(command, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise CannotRun(
            f"no {command[0]}; Debian: {'mpich' if arguments.mpi == 'mpich' else 'openmpi-bin'}"
        ) from None
    return f"{arguments.mpi} " + re.search(r"\d+\.\d+(\.\d+)?\S*", output).group()


class MpiSuite:
    """A suite for compare.py. Derived classes have `tests` (an ordered collection of names),
    launches() and launch().

    `arguments` are those of the command line. `shim` None means the unmodified library. `preload`
    are libraries that come before the shim, or are used without it.
    """

    def __init__(self, name, arguments, work_dir, shim, preload=()):
        self.name = f"{name}-{'ours' if shim else 'stock'}"
        self.version = library_version(arguments)
        self.work_dir = work_dir
        # The number of barriers by path, over all launches with HIERBAR_VERBOSE.
        self.ways = collections.Counter()
        self._arguments = arguments
        self._preload = [str(path) for path in (*preload, shim) if path]
        self._log = work_dir / f"{self.name}.log"
        self._log.write_text("")

    def launches(self, tests):
        """These tests in groups; each group is one launch."""
        return [[test] for test in tests]

    def launch(self, tests, settings):
        """Runs one group. Returns {test: code}."""
        raise NotImplementedError

    def run(self, settings, tests=None, quiet=False):
        if not quiet:
            print(
                f"hierbar: {self.name}: running {' '.join(settings) or 'without variables'}",
                flush=True,
            )
        groups = self.launches(self.tests if tests is None else tests)
        codes = {}
        for number, group in enumerate(groups, 1):
            codes.update(self.launch(group, settings))
            if not quiet and (number % 40 == 0 or number == len(groups)):
                num_failed = sum(map(failed, codes.values()))
                print(
                    f"hierbar: {self.name}: {number} of {len(groups)} launches, {num_failed} failed",
                    flush=True,
                )
        return codes

    def run_program(
        self, title, command, ranks, settings, timeout, launch_options=(), directory=None
    ):
        """Runs one launch, with its output in the log. Returns the exit status (None after a
        timeout) and what it wrote to stdout."""
        settings = list(settings) + (
            [f"LD_PRELOAD={':'.join(self._preload)}"] if self._preload else []
        )
        words = launcher.launch_command(self._arguments, ranks, settings, launch_options, command)
        status, output, errors = launcher.run_to_end(
            words, launcher.launch_environment(self._arguments), timeout, directory
        )
        self.ways.update(run_mpi_test.count_ways(errors))
        with open(self._log, "a") as log:
            log.write(
                f"==== {title} {' '.join(settings)}: {'timeout' if status is None else f'exit status {status}'}\n"
            )
            log.write(output + errors)
        return status, output
