#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests run_in_guest.py, by default without a boot; with --boot also what needs one.

Further arguments are unittest's."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("run_in_guest.py")
BOOT = "--boot" in sys.argv


class RunInGuest(unittest.TestCase):
    def setUp(self):
        # Here the script makes its own directories, so the test sees whether any is left.
        self.temporary = tempfile.TemporaryDirectory(prefix="hierbar-guest-test-")
        self.addCleanup(self.temporary.cleanup)
        self.environment = {**os.environ, "TMPDIR": self.temporary.name}

    def start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, "-B", str(SCRIPT), *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_script(self, *arguments):
        with self.start(*arguments) as process:
            output, errors = process.communicate()
        self.assertEqual(os.listdir(self.temporary.name), [])
        return process.returncode, output, errors


class WithoutBoot(RunInGuest):
    def test_refuses_bad_arguments(self):
        for arguments, message in (
            (["--shape", "2x2"], "'2x2': must be PACKAGESxNUMAxL3xCORES"),
            (["--shape", "2x0x1x4"], "'2x0x1x4': must be"),
            (["--shape", "8x8x2x4"], "has 512 cpus; at most 64 are allowed"),
            (["--env", "A"], "'A': must be NAME=VALUE"),
            (["--memory", "100"], "100: must be at least"),
        ):
            status, _, errors = self.run_script(*arguments, "--", "true")
            self.assertEqual(status, 2)
            self.assertIn(message, errors)

    def test_says_what_is_missing_and_skips(self):
        status, output, _ = self.run_script("--kernel", self.temporary.name, "--", "true")
        self.assertEqual(status, 77)
        self.assertRegex(output, "^skipped: no (kernel|qemu)")
        self.environment["PATH"] = "/nonexistent"
        status, output, _ = self.run_script("--", "true")
        self.assertEqual(status, 77)
        self.assertIn("skipped: no qemu-system-x86_64 here (Debian: qemu-system-x86)", output)


@unittest.skipUnless(BOOT, "--boot was not given")
class WithBoot(RunInGuest):
    ONE_CPU = ("--shape", "1x1x1x1", "--memory", "1024")

    def test_passes_on_output_and_status_and_changes_nothing(self):
        file = SCRIPT.with_name("written-by-guest")
        command = f"echo out $A; echo err >&2; nproc; echo x > '{file}' && cat '{file}'; exit 7"
        status, output, errors = self.run_script(
            *self.ONE_CPU, "--env", "A=a  b", "--", "sh", "-c", command
        )
        self.assertEqual((status, output, errors), (7, "out a b\n1\nx\n", "err\n"))
        self.assertFalse(file.exists())

    def test_has_the_shape_that_was_asked_for(self):
        cpu, node = "/sys/devices/system/cpu/cpu0", "/sys/devices/system/node/node"
        files = [
            f"{cpu}/topology/thread_siblings_list",
            f"{cpu}/cache/index3/shared_cpu_list",
            f"{cpu}/topology/package_cpus_list",
            f"{node}0/cpulist",
            f"{node}1/cpulist",
            f"{node}0/distance",
            "/sys/devices/system/cpu/online",
        ]
        status, output, errors = self.run_script("--shape", "2x2x2x1x2", "--", "cat", *files)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(
            output.splitlines(), ["0-1", "0-1", "0-7", "0-3", "4-7", "10 12 32 32", "0-15"]
        )

    def test_ends_a_command_that_takes_too_long(self):
        status, output, errors = self.run_script(
            *self.ONE_CPU, "--timeout", "1", "--", "sleep", "1000"
        )
        self.assertEqual((status, output), (124, ""))
        self.assertIn("did not end in 1 s", errors)

    def test_takes_qemu_along_when_it_is_ended(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.start(*self.ONE_CPU, "--verbose", "--", "sleep", "1000") as process:
                process.stderr.readline()  # QEMU's command line: it is about to start
                children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
                while not (pids := children.read_text().split()):
                    pass
                process.send_signal(number)
                process.communicate()  # returns when QEMU has closed what the script gave it
            for pid in pids:
                self.assertFalse(pathlib.Path(f"/proc/{pid}/exe").exists())
        # One is left, from the script that was killed.
        self.assertEqual(len(os.listdir(self.temporary.name)), 1)


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--boot"])
