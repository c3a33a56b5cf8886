#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws reports of barrier_model: plot_test.py BARRIER_MODEL PLOT_SCRIPT."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

BARRIER_MODEL, PLOT = sys.argv[1:3]


class Plot(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def plot(self, report, output):
        return subprocess.run(
            [sys.executable, "-B", PLOT, report, "--output", self.path(output)],
            capture_output=True,
            text=True,
            timeout=120,
        )

    def report_of(self, *arguments):
        path = self.path("report.json")
        subprocess.run(
            [BARRIER_MODEL, *arguments, "--json", path],
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=250,
        )
        return path

    def expect_refusal(self, report, output, words):
        result = self.plot(report, output)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(words, result.stderr)
        self.assertFalse(os.path.exists(self.path(output)))

    def test_draws_what_each_command_reports(self):
        for command, words in (
            (("compare", "--participants", "8"), ["period", "isolated"]),
            (("scale", "--counts", "8,16"), ["time from one to the next", "8", "16"]),
            (("design", "--participants", "8"), ["period"]),
            (("table",), ["paper", "held out"]),
        ):
            result = self.plot(self.report_of(*command), "plot.svg")
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.path("plot.svg"), encoding="utf-8") as file:
                picture = file.read()
            for text in words:
                self.assertIn(text, picture, command)

    def test_draws_the_same_picture_again(self):
        report = self.report_of("compare", "--participants", "8")
        pictures = []
        for _ in range(2):
            self.plot(report, "plot.svg")
            with open(self.path("plot.svg"), "rb") as file:
                pictures.append(file.read())
        self.assertEqual(*pictures)

    def test_draws_png_and_replaces_a_link_not_what_it_leads_to(self):
        target = self.write("target", "precious")
        os.symlink(target, self.path("plot.png"))
        result = self.plot(self.report_of("compare", "--participants", "8"), "plot.png")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("plot.png"), "rb") as file:
            self.assertTrue(file.read().startswith(b"\x89PNG"))
        self.assertFalse(os.path.islink(self.path("plot.png")))
        self.assertEqual(os.path.getsize(target), len("precious"))

    def test_refuses_what_it_cannot_draw(self):
        self.expect_refusal(self.path("nothing.json"), "plot.svg", "cannot be read")
        self.expect_refusal(self.write("text.json", "text"), "plot.svg", "is no JSON")
        self.expect_refusal(self.write("list.json", "[]"), "plot.svg", "format 'None'")
        self.expect_refusal(
            self.write("other.json", '{"format": "other"}'),
            "plot.svg",
            "format 'other'; allowed: what table",
        )
        half = self.write("half.json", json.dumps({"format": "hierbar-model-scale-1"}))
        self.expect_refusal(half, "plot.svg", "'machine' is missing")
        self.expect_refusal(half, "plot.txt", "allowed: a name that ends in .svg, .png or .pdf")


if __name__ == "__main__":
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("plot_test: Skipped\n  no matplotlib (Debian: python3-matplotlib)")
        sys.exit(0)
    unittest.main(argv=sys.argv[:1])
