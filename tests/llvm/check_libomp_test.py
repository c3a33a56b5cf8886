#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests how check_libomp.py judges results, with suites that answer from a script instead of running lit."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_libomp


class ScriptedSuite:
    """Gives each test the next of its scripted codes, the last one for ever."""

    def __init__(self, work_dir, target, codes):
        self.work_dir = work_dir
        self.target = target
        self.compiler_version = "clang 19.1.7"
        self.settings_seen = []
        self._codes = {test: list(script) for test, script in codes.items()}

    def run(self, settings, tests=None, quiet=False):
        self.settings_seen.append(list(settings))
        return {t: self._next_code(t) for t in tests or self._codes}

    def _next_code(self, test):
        script = self._codes[test]
        return script.pop(0) if len(script) > 1 else script[0]


class Compare(unittest.TestCase):
    SETTINGS = ["KMP_BARRIER=hier", "OMP_PLACES=cores"]

    def setUp(self):
        work_dir = tempfile.TemporaryDirectory()
        self.addCleanup(work_dir.cleanup)
        self.work_dir = pathlib.Path(work_dir.name)

    def compare(self, ours, stock, known=()):
        self.ours = ScriptedSuite(self.work_dir, "libomp", ours)
        self.stock = ScriptedSuite(self.work_dir, "stock_libomp", stock)
        results = check_libomp.StockResults(self.stock, self.SETTINGS, set(known))
        with contextlib.redirect_stdout(io.StringIO()):
            return check_libomp.compare(self.ours, results, self.SETTINGS, self.ours.run(self.SETTINGS))

    def test_a_test_that_fails_only_on_ours_is_a_regression(self):
        regressions, unsteady, shared = self.compare({"a": ["FAIL"], "b": ["PASS"]}, {"a": ["PASS"], "b": ["PASS"]})
        self.assertEqual(regressions, {"a": {"first": "FAIL", "ours_failed": 3, "stock_failed": 0, "reruns": 3}})
        self.assertEqual((unsteady, shared), ({}, []))

    def test_timeouts_and_unexpected_passes_count_as_failures(self):
        regressions, _, _ = self.compare({"a": ["TIMEOUT"], "b": ["XPASS"]}, {"a": ["PASS"], "b": ["XFAIL"]})
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

    def test_stock_gets_the_variables_except_our_barrier(self):
        self.compare({"a": ["FAIL"]}, {"a": ["PASS"]})
        self.assertEqual(self.ours.settings_seen[0], self.SETTINGS)
        self.assertTrue(all(seen == ["OMP_PLACES=cores"] for seen in self.stock.settings_seen))

    def test_stock_results_are_kept_for_the_next_run(self):
        self.compare({"a": ["FAIL"]}, {"a": ["FAIL"]})
        _, _, shared = self.compare({"a": ["FAIL"]}, {"a": ["PASS"]})
        self.assertEqual((shared, self.stock.settings_seen), (["a"], []))


class TargetNames(unittest.TestCase):
    def test_the_version_of_the_build_directory_has_the_plain_names(self):
        self.assertEqual(check_libomp.target_names("22.1.8", "22.1.8", False), ("libomp", "stock_libomp"))
        self.assertEqual(check_libomp.target_names("22.1.8", "22.1.8", True), ("libomp_debug", "stock_libomp_debug"))

    def test_another_version_adds_its_first_number(self):
        self.assertEqual(check_libomp.target_names("19.1.7", "22.1.8", False), ("libomp_19", "stock_libomp_19"))
        self.assertEqual(check_libomp.target_names("22.1.8", "19.1.7", True), ("libomp_debug_22", "stock_libomp_debug_22"))

    def test_the_known_versions_are_those_of_the_build(self):
        self.assertIn("22.1.8", check_libomp.known_llvm_versions())


if __name__ == "__main__":
    unittest.main()
