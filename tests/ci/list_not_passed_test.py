#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""list_not_passed_test.py CTEST: tests of .ci/list_not_passed on what CTEST leaves of a run."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / ".ci" / "list_not_passed"


class ListNotPassedTest(unittest.TestCase):
    def list_after(self, **tests):
        """What is listed after a run of these shell scripts."""
        with tempfile.TemporaryDirectory() as directory:
            lines = []
            for name, script in tests.items():
                lines.append(f"add_test({name} sh -c [[{script}]])\n")
                lines.append(
                    f'set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77 SKIP_REGULAR_EXPRESSION "cannot run")\n'
                )
            (pathlib.Path(directory) / "CTestTestfile.cmake").write_text("".join(lines))
            subprocess.run([CTEST], cwd=directory, capture_output=True, check=False)
            return subprocess.check_output([sys.executable, SCRIPT, directory], text=True)

    def test_a_test_that_returns_77_is_listed_with_the_reason_that_it_says(self):
        output = self.list_after(
            spawn="echo setting up; echo 'skipped: no spawn here'; echo mpiexec: bad end; exit 77"
        )
        self.assertEqual(output, "\nSkipped, with the reason:\n  spawn: no spawn here\n")

    def test_a_reason_in_other_words_is_the_last_line(self):
        self.assertIn(
            "\n  hosts: one node only\n",
            self.list_after(hosts="echo trying; echo one node only; echo; exit 77"),
        )

    def test_a_test_that_ctest_knows_by_its_words_is_listed(self):
        self.assertIn(
            "\n  words: it cannot run here\n", self.list_after(words="echo it cannot run here")
        )

    def test_a_test_without_a_word_is_listed(self):
        self.assertIn("\n  silent: it says no reason\n", self.list_after(silent="exit 77"))

    def test_parts_of_a_test_that_passes_are_listed_with_what_googletest_says(self):
        output = self.list_after(
            parts="echo one_test.cpp:1: Skipped; echo no such machine; echo '[  PASSED  ] 1 test.'"
        )
        self.assertEqual(
            output, "\nSkipped, with the reason:\n  one_test.cpp:1: Skipped\n  no such machine\n"
        )

    def test_nothing_is_said_of_tests_that_pass(self):
        self.assertEqual(self.list_after(passes="echo skipped: not really"), "")

    def test_a_test_that_fails_is_listed_with_the_end_of_its_output(self):
        output = self.list_after(passes="true", fails="seq 30; echo skipped: no; false")
        self.assertTrue(
            output.startswith("\nFailed, with the end of the output:\n  fails:\n    12\n    13\n"),
            output,
        )
        self.assertTrue(output.endswith("\n    30\n    skipped: no\n"), output)


if __name__ == "__main__":
    CTEST = sys.argv.pop(1)
    unittest.main()
