#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of bench/common/report/plot_summary.py: what it draws of the rows that summary.py writes."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPORT = pathlib.Path(__file__).resolve().parents[2] / "bench/common/report"
RECORDED = pathlib.Path(__file__).parent / "recorded"


class PlotSummaryTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def run_script(self, name, *arguments):
        return subprocess.run(
            [sys.executable, "-B", REPORT / name, *arguments],
            capture_output=True,
            text=True,
            timeout=120,
        )

    def summary(self):
        path = self.directory / "summary.json"
        made = self.run_script("summary.py", *sorted(RECORDED.glob("demo-*.json")), "--json", path)
        self.assertEqual(made.returncode, 0, made.stderr)
        return path

    def pictures(self, output):
        drawn = self.run_script(
            "plot_summary.py", self.summary(), "--output", self.directory / output
        )
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        return {
            theme: (self.directory / f"{output}-{theme}.svg").read_text(encoding="utf-8")
            for theme in ("light", "dark")
        }

    def test_rows_with_a_verdict_are_drawn_for_both_kinds_of_pages(self):
        rows = json.loads(self.summary().read_text(encoding="utf-8"))["rows"]
        for picture in self.pictures("plot").values():
            for row in rows:
                self.assertEqual(
                    f">{row['title']}<" in picture,
                    "ratio" in row and not row["doubt"],
                    row["title"],
                )

    def test_the_same_figures_become_the_same_picture(self):
        self.assertEqual(self.pictures("one"), self.pictures("two"))

    def test_another_file_is_refused(self):
        path = self.directory / "other.json"
        path.write_text("{}", encoding="utf-8")
        refused = self.run_script("plot_summary.py", path, "--output", self.directory / "plot")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("hierbar-summary-1", refused.stderr)


if __name__ == "__main__":
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("plot_summary_test: Skipped\n  no matplotlib (Debian: python3-matplotlib)")
        sys.exit(0)
    unittest.main()
