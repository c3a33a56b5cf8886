#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests what check_libomp.py compares with what. How results are judged is tested for
tests/suites/compare.py."""

import unittest

import check_libomp


class Settings(unittest.TestCase):
    def test_stock_gets_the_variables_except_our_barrier(self):
        self.assertEqual(
            check_libomp.without_our_barrier(["KMP_BARRIER=hier", "OMP_PLACES=cores"]),
            ["OMP_PLACES=cores"],
        )


class TargetNames(unittest.TestCase):
    def test_the_version_of_the_build_directory_has_the_plain_names(self):
        self.assertEqual(
            check_libomp.target_names("22.1.8", "22.1.8", False), ("libomp", "stock_libomp")
        )
        self.assertEqual(
            check_libomp.target_names("22.1.8", "22.1.8", True),
            ("libomp_debug", "stock_libomp_debug"),
        )

    def test_another_version_adds_its_first_number(self):
        self.assertEqual(
            check_libomp.target_names("19.1.7", "22.1.8", False), ("libomp_19", "stock_libomp_19")
        )
        self.assertEqual(
            check_libomp.target_names("22.1.8", "19.1.7", True),
            ("libomp_debug_22", "stock_libomp_debug_22"),
        )

    def test_the_known_versions_are_those_of_the_build(self):
        self.assertIn("22.1.8", check_libomp.known_llvm_versions())

    def test_known_failures(self):
        self.assertIn(
            "misc_bugs/simd_conservative_ordered.c", check_libomp.read_known_failures("22.1.8", 19)
        )
        self.assertEqual(check_libomp.read_known_failures("22.1.8", 0), set())


if __name__ == "__main__":
    unittest.main()
