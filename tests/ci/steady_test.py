#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What steady.py repeats, how often, and what it says of tests that fail or cannot run."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().with_name("steady.py")
SPEC = importlib.util.spec_from_file_location("steady", SCRIPT)
STEADY = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(STEADY)


class Steady(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.build = pathlib.Path(scratch.name)
        self.text = ""

    def add(self, name, command, properties):
        """A test that runs a line of shell, in which $runs is a file of its own."""
        line = f"runs='{self.build}/{name}.runs'; echo run >>\"$runs\"; {command}"
        self.text += f'add_test([=[{name}]=] "/bin/sh" "-c" [=[{line}]=])\n'
        self.text += f"set_tests_properties([=[{name}]=] PROPERTIES {properties})\n"
        (self.build / "CTestTestfile.cmake").write_text(self.text)

    def steady(self, *options):
        done = subprocess.run(
            [sys.executable, "-B", SCRIPT, self.build, *options], text=True, capture_output=True
        )
        return done.returncode, done.stdout + done.stderr

    def runs(self, name):
        path = self.build / f"{name}.runs"
        return len(path.read_text().split()) if path.exists() else 0

    def test_serial_and_timed_tests_are_repeated(self):
        self.add("serial", "true", "RUN_SERIAL ON LABELS mpi")
        self.add("timed", "true", 'LABELS "omp;timed"')
        self.add("other", "true", "LABELS unit")
        self.add("repeats_itself", "true", "RUN_SERIAL ON LABELS stress")
        self.assertEqual(self.steady("--list"), (0, "serial\ntimed\n"))
        status, output = self.steady("--alone", "4", "--beside", "2")
        self.assertEqual(status, 0, output)
        for name in ("serial", "timed"):
            self.assertEqual(self.runs(name), 1 + 4 + 2, output)
            self.assertIn(f"{name}: passed 4 times alone", output)
            self.assertIn(f"{name}: passed 2 times beside a busy process", output)
        self.assertEqual((self.runs("other"), self.runs("repeats_itself")), (0, 0))
        self.assertIn("2 passed, 0 failed, 0 cannot run here", output)

    def test_a_rare_failure_is_found(self):
        self.add("rare", 'test "$(wc -l <"$runs")" -ne 4', "RUN_SERIAL ON LABELS mpi")
        self.add("fine", "true", "RUN_SERIAL ON LABELS mpi")
        status, output = self.steady("--alone", "5", "--beside", "1")
        self.assertEqual(status, 1, output)
        self.assertIn("rare: FAILED in one of 5 runs alone", output)
        self.assertIn("fine: passed 1 times beside a busy process", output)
        self.assertIn("1 passed, 1 failed", output)

    def test_a_failure_at_once_is_no_failure_of_many_runs(self):
        self.add("broken", "false", "RUN_SERIAL ON LABELS mpi")
        status, output = self.steady()
        self.assertEqual((status, self.runs("broken")), (1, 1), output)
        self.assertIn("broken: FAILED in its first run", output)

    def test_what_cannot_run_here_is_named_and_has_not_passed(self):
        self.add("absent", "exit 77", "RUN_SERIAL ON LABELS mpi SKIP_RETURN_CODE 77")
        status, output = self.steady("--alone", "3")
        self.assertEqual((status, self.runs("absent")), (0, 1), output)
        self.assertIn("0 passed, 0 failed, 1 cannot run here: absent", output)

    def test_long_tests_run_less_often_and_each_runs(self):
        # 250 runs, of which those beside another process count twice, in half of the time that they take.
        self.assertEqual(STEADY.times_within(150, 1, 200, 50), (100, 25))
        self.assertEqual(STEADY.times_within(1e6, 1, 200, 50), (200, 50))
        self.assertEqual(STEADY.times_within(0, 30, 200, 50), (1, 1))
        self.add("some", "true", "RUN_SERIAL ON LABELS mpi")
        status, output = self.steady("--minutes", "0")
        self.assertEqual((status, self.runs("some")), (0, 1 + 1 + 1), output)

    def test_no_test_matches(self):
        self.add("some", "true", "RUN_SERIAL ON LABELS mpi")
        status, output = self.steady("--tests", "^other$")
        self.assertEqual(status, 2)
        self.assertIn("no serial or timed test of", output)
        self.assertIn("--tests '^other$'", output)


if __name__ == "__main__":
    unittest.main()
