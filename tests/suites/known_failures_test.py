#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the lists of known failures: what they excuse, and that a wrong or outdated line is
reported."""

import pathlib
import tempfile
import unittest

import known_failures
from compare import CannotRun

LIST = """
# A comment.
[fails]
comm/a 4        # stock complains

[not built]
rma/b           # MPIX_ functions

[not run]
coll/c *        # needs 33 ranks
coll/d 2 -n=7   # takes an hour

[more ranks]
group/e 8       # less do not do
"""


class KnownFailures(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "list.txt"
            path.write_text(text)
            return known_failures.read(path)

    def stale(self, codes, built, tests):
        return list(self.read(LIST).stale(codes, built, tests))

    def test_what_is_not_built_or_not_run_is_excused_with_its_cause(self):
        known = self.read(LIST)
        self.assertEqual(known.excuse("rma/b 4"), "MPIX_ functions")
        self.assertEqual(known.excuse("coll/c 4 -x"), "needs 33 ranks")
        self.assertEqual(known.excuse("coll/d 2 -n=7"), "takes an hour")

    def test_programs_may_have_more_ranks(self):
        self.assertEqual(self.read(LIST).max_ranks(), {"group/e": 8})

    def test_nothing_else_is_excused(self):
        known = self.read(LIST)
        for test in ("comm/a 4", "coll/d 2", "coll/d 2 -n=8", "rma/bb 4", "coll/cc 4"):
            self.assertIsNone(known.excuse(test), test)

    def test_a_line_without_cause_or_section_is_an_error(self):
        for text in (
            "[fails]\ncomm/a 4\n",
            "[fails]\ncomm/a 4 #\n",
            "comm/a 4 # cause\n",
            "[falis]\ncomm/a 4 # cause\n",
        ):
            with self.assertRaises(CannotRun, msg=text):
                self.read(text)

    def test_a_list_that_holds_has_nothing_stale(self):
        self.assertEqual(
            self.stale(
                {"comm/a 4": "FAIL"},
                {"coll/c"},
                ["comm/a 4", "rma/b 2", "coll/c 4", "coll/d 2 -n=7", "group/e 8"],
            ),
            [],
        )

    def test_lines_that_do_not_hold_any_more_are_told(self):
        self.assertEqual(len(self.stale({}, {"rma/b"}, ["rma/b 2"])), 5)
        self.assertEqual(len(self.stale({"comm/a 4": "PASS"}, {}, [])), 5)


if __name__ == "__main__":
    unittest.main()
