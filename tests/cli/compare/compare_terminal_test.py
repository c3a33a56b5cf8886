#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare_terminal_test.py HIERBAR STAND_IN: `hierbar compare` on a terminal.

Its progress is one line that is written again and again, and ^C, which the terminal sends to the
program too, ends the runs and gives the answer. STAND_IN is a library in place of the runtime.
"""

import os
import pathlib
import pty
import re
import shutil
import sys
import tempfile
import unittest

STAND_IN = os.path.abspath(sys.argv.pop())
HIERBAR = os.path.abspath(sys.argv.pop())
APP = """#!/bin/sh
[ "$KMP_BARRIER" != hier ] || echo 'openmp 10 0' >>"$HIERBAR_SERVED_FILE"
echo done
"""
OURS = ("HIERBAR_", "KMP_", "OMP_", "GOMP_", "LD_")


class TerminalTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        root = pathlib.Path(directory.name)
        (root / "lib/hierbar/preload").mkdir(parents=True)
        (root / "bin").mkdir()
        (root / "CMakeCache.txt").touch()  # as in a build, libraries are in lib
        shutil.copy(HIERBAR, root / "bin/hierbar")
        shutil.copy(STAND_IN, root / "lib/hierbar/preload/libgomp.so.1")
        self.app = root / "app"
        self.app.write_text(APP)
        self.app.chmod(0o755)
        self.hierbar = root / "bin/hierbar"

    def compare(self, *options, until=None):
        """(exit status, what the terminal shows). ^C is pressed once it shows `until`."""
        env = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        child, terminal = pty.fork()
        if child == 0:
            os.execve(self.hierbar, ["hierbar", "compare", *options, "--", str(self.app)], env)
        shown = b""
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the terminal has no user any more
                part = b""
            if not part:
                break
            shown += part
            if until and until in shown:
                os.write(terminal, b"\x03")
                until = None
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(terminal)
        return status, shown.decode()

    def test_progress_is_one_line_that_vanishes(self):
        status, shown = self.compare("--runs", "2")
        self.assertEqual(status, 0, shown)
        self.assertRegex(shown, r"\r\x1b\[Khierbar compare: round 2 of 2, \d+ s left: as it is")
        last = shown.split("\r\x1b[K")[-1]
        self.assertTrue(last.startswith("hierbar compare: "), last)
        self.assertIn("of its time", last)

    def test_interrupt_gives_the_answer(self):
        status, shown = self.compare("--runs", "1000", until=b"round 4 of")
        self.assertEqual(status, 130, shown)
        last = shown.split("\r\x1b[K")[-1]
        self.assertRegex(last, r"of its time \([\d.]+ to [\d.]+, \d+ pairs\), 10 barriers served")
        pairs = re.search(r"ended by signal 2 after (\d+) of 1,000 pairs, in a run ", last)
        self.assertTrue(pairs and int(pairs.group(1)) >= 3, last)


if __name__ == "__main__":
    unittest.main()
