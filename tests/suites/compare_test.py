#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests how compare.py judges results, and how summary.py reports them, with suites whose codes are
scripted."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import compare
import summary


class ScriptedSuite:
    """Gives each test the next of its scripted codes; the last one is repeated for ever."""

    def __init__(self, work_dir, name, codes):
        self.work_dir = work_dir
        self.name = name
        self.version = "scripted"
        self.settings_seen = []
        self._codes = {test: list(script) for test, script in codes.items()}

    def run(self, settings, tests=None, quiet=False):
        self.settings_seen.append(list(settings))
        return {t: self._next_code(t) for t in tests or self._codes}

    def _next_code(self, test):
        script = self._codes[test]
        return script.pop(0) if len(script) > 1 else script[0]


class InDirectory(unittest.TestCase):
    def setUp(self):
        work_dir = tempfile.TemporaryDirectory()
        self.addCleanup(work_dir.cleanup)
        self.work_dir = pathlib.Path(work_dir.name)


class Compare(InDirectory):
    OURS = ["OURS=1", "COMMON=1"]
    STOCK = ["COMMON=1"]

    def compare(self, ours, stock, known=()):
        self.ours = ScriptedSuite(self.work_dir, "ours", ours)
        self.stock = ScriptedSuite(self.work_dir, "stock", stock)
        results = compare.StockResults(self.stock, self.STOCK, set(known))
        with contextlib.redirect_stdout(io.StringIO()):
            return compare.compare(self.ours, results, self.OURS, self.ours.run(self.OURS))

    def test_a_test_that_fails_only_on_ours_is_a_regression(self):
        regressions, unsteady, shared = self.compare(
            {"a": ["FAIL"], "b": ["PASS"]}, {"a": ["PASS"], "b": ["PASS"]}
        )
        self.assertEqual(
            regressions, {"a": {"first": "FAIL", "ours_failed": 3, "stock_failed": 0, "reruns": 3}}
        )
        self.assertEqual((unsteady, shared), ({}, []))

    def test_timeouts_and_unexpected_passes_count_as_failures(self):
        regressions, _, _ = self.compare(
            {"a": ["TIMEOUT"], "b": ["XPASS"]}, {"a": ["PASS"], "b": ["XFAIL"]}
        )
        self.assertEqual(sorted(regressions), ["a", "b"])

    def test_one_failure_in_the_reruns_is_enough_for_a_regression(self):
        regressions, _, _ = self.compare({"a": ["FAIL", "PASS", "FAIL", "PASS"]}, {"a": ["PASS"]})
        self.assertEqual(regressions["a"]["ours_failed"], 1)

    def test_a_failure_that_does_not_come_back_is_unsteady(self):
        regressions, unsteady, _ = self.compare({"a": ["FAIL", "PASS"]}, {"a": ["PASS"]})
        self.assertEqual((regressions, list(unsteady)), ({}, ["a"]))

    def test_a_test_that_stock_fails_now_and_then_is_unsteady(self):
        regressions, unsteady, _ = self.compare({"a": ["FAIL"]}, {"a": ["PASS", "FAIL", "PASS"]})
        self.assertEqual((regressions, unsteady["a"]["stock_failed"]), ({}, 1))

    def test_what_stock_fails_too_is_no_difference(self):
        regressions, unsteady, shared = self.compare({"a": ["FAIL"]}, {"a": ["FAIL"]})
        self.assertEqual((regressions, unsteady, shared), ({}, {}, ["a"]))

    def test_one_failure_of_stock_does_not_excuse_ours(self):
        regressions, _, _ = self.compare({"a": ["FAIL"]}, {"a": ["FAIL", "PASS"]})
        self.assertEqual(list(regressions), ["a"])

    def test_listed_failures_are_not_run_on_stock(self):
        _, _, shared = self.compare({"a": ["FAIL"]}, {"a": ["PASS"]}, known=["a"])
        self.assertEqual((shared, self.stock.settings_seen), (["a"], []))

    def test_each_library_gets_its_own_variables(self):
        self.compare({"a": ["FAIL"]}, {"a": ["PASS"]})
        self.assertTrue(all(seen == self.OURS for seen in self.ours.settings_seen))
        self.assertTrue(all(seen == self.STOCK for seen in self.stock.settings_seen))

    def test_stock_results_are_kept_for_the_next_run(self):
        self.compare({"a": ["FAIL"]}, {"a": ["FAIL"]})
        _, _, shared = self.compare({"a": ["FAIL"]}, {"a": ["PASS"]})
        self.assertEqual((shared, self.stock.settings_seen), (["a"], []))


class Summary(InDirectory):
    def summarise(self, codes, regressions=(), unsteady=(), shared=()):
        path = self.work_dir / "x.json"
        counts = summary.count(codes, regressions, unsteady, shared)
        summary.write(path, {"suite": "somebody's", "environment": ["A=1"], "counts": counts})
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = summary.main([path])
        return status, output.getvalue().splitlines()[1].split()

    def test_every_test_that_ran_is_in_one_column(self):
        codes = {
            "a": "PASS",
            "b": "FAIL",
            "c": "TIMEOUT",
            "d": "XFAIL",
            "e": "UNSUPPORTED",
            "f": "FAIL",
            "g": "FAIL",
        }
        status, row = self.summarise(codes, regressions=["b"], unsteady=["c"], shared=["f", "g"])
        self.assertEqual((status, row), (1, ["somebody's", "A=1", "6", "2", "2", "1", "1"]))

    def test_what_stock_fails_too_and_what_is_unsteady_is_no_failure(self):
        status, _ = self.summarise({"a": "FAIL", "b": "FAIL"}, unsteady=["a"], shared=["b"])
        self.assertEqual(status, 0)

    def test_a_suite_that_left_no_result_is_a_failure(self):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.assertEqual(summary.main([self.work_dir / "missing.json"]), 1)
        self.assertIn("did not come to an end", output.getvalue())


if __name__ == "__main__":
    unittest.main()
