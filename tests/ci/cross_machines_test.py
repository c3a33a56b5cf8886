#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether each architecture of cmake/cross_machines.txt has presets, runs in CI, and is documented."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


ROWS = [line.split() for line in read("cmake/cross_machines.txt").splitlines() if line[0] != "#"]
NAMES = {row[0] for row in ROWS}


class CrossMachinesTest(unittest.TestCase):
    def test_each_row_has_all_columns(self):
        self.assertGreaterEqual(len(ROWS), 5)
        for row in ROWS:
            self.assertEqual(len(row), 5, row)

    def test_each_has_presets_of_its_name(self):
        presets = json.loads(read("CMakePresets.json"))
        configure = {p["name"] for p in presets["configurePresets"] if p.get("inherits") == "cross"}
        self.assertEqual(configure, NAMES)
        for kind in ("buildPresets", "testPresets"):
            found = {p["name"] for p in presets[kind]}
            self.assertLessEqual(NAMES, found, kind)

    def test_ci_builds_each(self):
        machines = re.search(r"for machine in (.*); do", read(".ci/long")).group(1).split()
        self.assertEqual({*machines, "aarch64"}, NAMES)
        self.assertIn("test_preset aarch64", read(".ci/run"))

    def test_the_page_says_what_was_run_on_each(self):
        rows = re.findall(r"^\| `(\w+)` \|", read("docs/contribute/porting.md"), re.MULTILINE)
        self.assertEqual(set(rows), NAMES)


if __name__ == "__main__":
    unittest.main()
