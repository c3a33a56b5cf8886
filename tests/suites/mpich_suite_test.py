#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests how MPICH's lists of tests are read, and how the end of one of its programs is judged."""

import pathlib
import tempfile
import unittest

import check_mpich
import mpich_tests
from mpich_tests import Test


class Testlist(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.source = pathlib.Path(directory.name) / "source"
        self.build = pathlib.Path(directory.name) / "build"

    def write(self, tree, folder, text):
        (tree / folder).mkdir(parents=True, exist_ok=True)
        (tree / folder / "testlist").write_text(text)

    def read(self, *folders, **more_ranks):
        more_ranks = {f"coll/{program}": ranks for program, ranks in more_ranks.items()}
        return list(mpich_tests.read(self.source, self.build, folders, 4, more_ranks).values())

    def test_everything_that_a_line_says_about_the_launch_is_taken(self):
        self.write(
            self.source,
            "coll",
            "bcast 4 arg=-a=1,2 arg=-b env=V=w timeLimit=600 mpiexecarg=-x strict=false\n",
        )
        self.assertEqual(
            self.read("coll"),
            [Test("coll/bcast", 4, ("-a=1,2", "-b"), ("V=w",), ("-x",), 600, False)],
        )

    def test_comments_and_empty_lines_are_left_out(self):
        self.write(self.source, "coll", "\n# bcast 4\na 2 # why\n#b 2\n")
        self.assertEqual(self.read("coll"), [Test("coll/a", 2)])

    def test_more_ranks_than_allowed_become_as_many_and_make_no_second_test(self):
        self.write(self.source, "coll", "a 3\na 4\na 10\n")
        self.assertEqual([test.name for test in self.read("coll")], ["coll/a 3", "coll/a 4"])

    def test_a_program_may_have_a_maximum_of_its_own(self):
        self.write(self.source, "coll", "a 10\nb 6\n")
        self.assertEqual(
            [test.name for test in self.read("coll", a=8, b=8)], ["coll/a 8", "coll/b 6"]
        )

    def test_the_same_program_with_other_arguments_is_another_test(self):
        self.write(self.source, "coll", "a 2 arg=1\na 2 arg=2\na 2 env=A=1\n")
        self.assertEqual(
            [test.name for test in self.read("coll")], ["coll/a 2 1", "coll/a 2 2", "coll/a 2 A=1"]
        )

    def test_folders_in_a_list_are_entered(self):
        self.write(self.source, "threads", "comm\nmissing\n")
        self.write(self.source, "threads/comm", "a 2\n")
        self.assertEqual(self.read("threads"), [Test("threads/comm/a", 2)])

    def test_a_list_that_configure_has_made_is_preferred(self):
        self.write(self.source, "coll", "a 2\n")
        self.write(self.build, "coll", "b 2\n")
        self.assertEqual(self.read("coll"), [Test("coll/b", 2)])


class Judge(unittest.TestCase):
    PLAIN = Test("coll/a", 2)
    FATAL = Test("errhan/a", 2, must_fail=True)

    def test_no_errors_and_nothing_else_is_a_pass(self):
        self.assertEqual(check_mpich.judge(self.PLAIN, 0, " No Errors\n"), "PASS")

    def test_anything_else_is_a_failure(self):
        for status, output in (
            (1, " No Errors\n"),
            (0, ""),
            (0, "Found 3 errors\n"),
            (0, "rank 1: wrong\n No Errors\n"),
        ):
            self.assertEqual(check_mpich.judge(self.PLAIN, status, output), "FAIL", output)

    def test_a_program_that_must_abort_passes_by_its_status(self):
        self.assertEqual(check_mpich.judge(self.FATAL, 1, "Fatal error in MPI_Send\n"), "PASS")
        self.assertEqual(check_mpich.judge(self.FATAL, 0, " No Errors\n"), "FAIL")

    def test_a_hang_is_a_timeout_for_every_program(self):
        for test in (self.PLAIN, self.FATAL):
            self.assertEqual(check_mpich.judge(test, None, " No Errors\n"), "TIMEOUT")


if __name__ == "__main__":
    unittest.main()
