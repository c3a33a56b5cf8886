#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of run_omp_test.py: what it checks can fail. Shell commands stand for OpenMP programs."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import time
import unittest
from unittest import mock

import run_omp_test

REPORT = "echo 'OMP: hierbar: episodes: fast 7, slow 2, gather and release 3, stock 0' >&2; "


def run(script, *options):
    """Returns (exit status, output) of the runner for a shell script."""
    output = io.StringIO()
    command = ["run_omp_test.py", "--lib-dir", "/nonexistent", *options, "--", "sh", "-c", script]
    with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(output):
        return run_omp_test.main(), output.getvalue()


def is_running(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


class RunOmpTest(unittest.TestCase):
    def assert_passes(self, script, *options):
        status, output = run(script, *options)
        self.assertEqual(status, 0, output)

    def assert_fails(self, reason, script, *options):
        status, output = run(script, *options)
        self.assertEqual(status, 1, output)
        self.assertIn(reason, output)

    def test_exit_code(self):
        self.assert_passes("exit 0")
        self.assert_passes("exit 3", "--exit-code", "3")
        self.assert_fails("exit code 1 instead of 0", "exit 1")
        self.assert_fails("exit code 0 instead of 3", "exit 0", "--exit-code", "3")
        self.assert_fails("exit code -9", "kill -9 $$")

    def test_skipped_program(self):
        self.assertEqual(run("echo skipped: no reason; exit 77"), (77, "skipped: no reason\n\n"))

    def test_expected_line_is_there_exactly_once(self):
        self.assert_passes("echo one two >&2", "--expect", "^one")
        self.assert_fails("0 lines of stderr match", "echo two >&2", "--expect", "^one")
        self.assert_fails(
            "2 lines of stderr match", "echo one >&2; echo one >&2", "--expect", "^one"
        )
        self.assert_passes("echo one; echo one >&2", "--expect-some", "^one")
        self.assert_fails("no line matches", "echo two", "--expect-some", "^one")

    def test_rejected_line(self):
        self.assert_passes("echo two", "--reject", "one")
        self.assert_fails("a line matches", "echo some one", "--reject", "one")

    def test_counters_are_summed_over_reports(self):
        self.assert_passes(
            REPORT * 2,
            "--counter",
            "fast==14",
            "--counter",
            "phased>=6",
            "--counter",
            "reports==2",
            "--counter",
            "stock<=0",
        )
        self.assert_fails("slow is 2, not >= 3", REPORT, "--counter", "slow>=3")
        self.assert_fails("reports is 0, not == 1", "true", "--counter", "reports==1")

    def test_output_that_differs_from_run_to_run(self):
        self.assert_passes("echo same", "--repeat", "3")
        self.assert_fails("differs between two runs", "date +%N", "--repeat", "3")

    def test_hanging_program_and_its_children_are_killed(self):
        with tempfile.NamedTemporaryFile() as pid_file:
            self.assert_fails(
                "hangs", f"sleep 1000 & echo $! > {pid_file.name}; wait", "--timeout", "1"
            )
            child = int(pathlib.Path(pid_file.name).read_text())
        # SIGKILL takes effect when the child is scheduled again, which a loaded machine may delay.
        deadline = time.monotonic() + 20
        while is_running(child):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_environment_is_the_given_one(self):
        with mock.patch.dict(
            os.environ, {"OMP_PLACES": "cores", "KMP_BARRIER": "tree", "OTHER": "kept"}
        ):
            self.assert_passes(
                'test "$OMP_PLACES$KMP_BARRIER$OTHER$KMP_BLOCKTIME" = hierkept0',
                "--env",
                "KMP_BLOCKTIME=0",
            )
            self.assert_passes('test -z "$KMP_BARRIER"', "--env", "KMP_BARRIER")

    def test_emulator_runs_the_program(self):
        self.assert_passes(
            'test "$EMULATED" = "a machine"', "--emulator", "env 'EMULATED=a machine'"
        )


if __name__ == "__main__":
    unittest.main()
