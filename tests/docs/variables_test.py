#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""variables_test.py HIERBAR: whether the list of variables is complete, and its page up to date.

1. Each HIERBAR_ variable that a source of the product names as a text is in the list
   (runtime/base/variables.hpp), and each one in the list is read by some source or script.
2. docs/reference/variables.md is what `hierbar variables --markdown` prints.
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

HIERBAR = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "runtime/base/variables.hpp"
PRODUCTS = ("runtime", "mpi", "ompt-tools")
BUILD = (
    "bootstrap",
    ".ci/long",
    "cmake/source_archives.sh",
    "tests/libomp/gcc_suite/fetch_gcc_tests.sh",
)
NAME = re.compile(r'"(HIERBAR_[A-Z][A-Z_]*)"')


def run(*arguments):
    return subprocess.run(
        [HIERBAR, "variables", *arguments], capture_output=True, text=True, check=True, timeout=60
    ).stdout


def names_in_products():
    """Names that stand alone between quotes: macros and labels do not."""
    files = (
        path
        for folder in PRODUCTS
        for ending in ("*.cpp", "*.hpp", "*.h")
        for path in (ROOT / folder).rglob(ending)
    )
    return {
        name
        for path in files
        if path != LIST
        for name in NAME.findall(path.read_text(encoding="utf-8"))
    }


class VariablesTest(unittest.TestCase):
    def setUp(self):
        self.listed = {entry["name"]: entry for entry in json.loads(run("--json"))["variables"]}

    def test_every_variable_that_is_read_is_listed(self):
        self.assertEqual(names_in_products() - set(self.listed), set())

    def test_every_listed_variable_is_read(self):
        scripts = "".join((ROOT / name).read_text(encoding="utf-8") for name in BUILD)
        build = {name for name in self.listed if name in scripts}
        self.assertEqual(set(self.listed) - names_in_products() - build - {"KMP_BARRIER"}, set())

    def test_every_page_names_its_variables(self):
        for name, entry in self.listed.items():
            page = (ROOT / entry["page"]).read_text(encoding="utf-8")
            self.assertIn(name, page, entry["page"])

    def test_the_page_of_the_reference_is_up_to_date(self):
        page = (ROOT / "docs/reference/variables.md").read_text(encoding="utf-8")
        self.assertEqual(
            page,
            run("--markdown"),
            "hierbar variables --markdown writes docs/reference/variables.md",
        )


if __name__ == "__main__":
    unittest.main()
