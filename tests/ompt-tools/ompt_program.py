# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs with libhierbar_ompt.so on one OpenMP library, for ompt_test.py and trace_test.py,
which share these options.

    ompt_test.py --tool build/release/lib/libhierbar_ompt.so --other-tool libother_tool.so
                 --hierbar bin/hierbar
                 --lib-dir /usr/lib/llvm-19/lib --program barriers

--lib-dir says whose libomp.so: any OpenMP library with OMPT; --env adds variables, as
KMP_BARRIER=hier. What is checked holds on a busy machine as well. --strict also compares the
imbalance with the one that the program has, for a quiet machine.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ARGUMENTS = None


def options():
    """What main() has read."""
    return ARGUMENTS


def environment_with(**variables):
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OMP_", "KMP_", "HIERBAR_", "PMI"))
    }
    environment.update(
        LD_LIBRARY_PATH=str(ARGUMENTS.lib_dir.resolve()),
        OMP_TOOL_LIBRARIES=str(ARGUMENTS.tool.resolve()),
    )
    environment.update(setting.split("=", 1) for setting in ARGUMENTS.env)
    environment.update(variables)
    return environment


def run(arguments, directory, before=None, **variables):
    # Signals as Python has them: a write beyond a limit fails, and does not end the program.
    ending = subprocess.run(
        [ARGUMENTS.program.resolve(), *map(str, arguments)],
        env=environment_with(**variables),
        cwd=directory,
        text=True,
        capture_output=True,
        timeout=60,
        preexec_fn=before,
        restore_signals=before is None,
    )
    assert ending.returncode == 0 and ending.stdout == "done\n", f"the program is harmed: {ending}"
    return ending


def is_ours():
    return "KMP_BARRIER=hier" in ARGUMENTS.env


def has_trees():
    return is_ours() and any(setting.startswith("HIERBAR_TOPOLOGY=") for setting in ARGUMENTS.env)


class Program(unittest.TestCase):
    """Runs programs in a directory of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = pathlib.Path(scratch.name)

    def run_program(self, arguments, **variables):
        return run(arguments, self.directory, **variables)


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="libhierbar_ompt.so")
    parser.add_argument(
        "--lib-dir", type=pathlib.Path, required=True, help="where the OpenMP library is"
    )
    parser.add_argument(
        "--program", type=pathlib.Path, required=True, help="tests/ompt-tools/barriers.cpp, built"
    )
    parser.add_argument("--hierbar", type=pathlib.Path, required=True, help="the hierbar command")
    parser.add_argument(
        "--other-tool",
        type=pathlib.Path,
        required=True,
        help="tests/ompt-tools/other_tool.cpp, built",
    )
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a variable for the programs",
    )
    parser.add_argument(
        "--strict", action="store_true", help="compare the figures, on a quiet machine"
    )
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
