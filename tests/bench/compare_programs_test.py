#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of bench/programs: what is read from the programs, what is compared with what."""

import argparse
import os
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/programs"))
import compare_programs  # noqa: E402
import programs  # noqa: E402
import ratios  # noqa: E402

SYNCBENCH = """
Computing reference time 1 time using 20480 reps
reference time 1 time     = 0.100000 microseconds +/- 0.001
PARALLEL time     = 0.400000 microseconds +/- 0.01
PARALLEL overhead = 0.300000 microseconds +/- 0.01
LOCK/UNLOCK time     = 0.150000 microseconds +/- 0.01
LOCK/UNLOCK overhead = -0.010000 microseconds +/- 0.01
"""


def row(hier, **others):
    return ratios.row_of(
        "syncbench, gcc",
        "PARALLEL",
        "us",
        {"hier": hier} | {name.replace("_", "-"): v for name, v in others.items()},
    )


class ReadTest(unittest.TestCase):
    def test_epcc_gives_one_quantity_of_each_construct(self):
        self.assertEqual(
            programs.read_epcc("overhead")(SYNCBENCH), {"PARALLEL": 0.3, "LOCK/UNLOCK": -0.01}
        )
        self.assertEqual(
            programs.read_epcc("time")(SYNCBENCH), {"PARALLEL": 0.4, "LOCK/UNLOCK": 0.15}
        )

    def test_npb_gives_the_time_of_an_operation(self):
        for verdict in (
            " VERIFICATION SUCCESSFUL\n",
            " Verification    =               SUCCESSFUL\n",
        ):
            self.assertEqual(
                programs.read_npb(verdict + " Mop/s total     =    500.00\n"), {"class S": 2.0}
            )

    def test_npb_must_have_verified_its_answer(self):
        with self.assertRaises(programs.Failed):
            programs.read_npb(" VERIFICATION FAILED\n Mop/s total     =    500.00\n")

    def test_small_programs_give_a_time_for_each_size(self):
        self.assertEqual(
            programs.read_small("100 unknowns: 5.250 us\nup to 1e10: 7.000 us\n"),
            {"100 unknowns": 5.25, "up to 1e10": 7.0},
        )


class RatioTest(unittest.TestCase):
    def test_ratios_are_those_of_the_same_round(self):
        [ratio] = row([1.0, 10.0, 3.0], stock=[2.0, 10.0, 4.0]).ratios
        self.assertEqual(
            (ratio.other, ratio.median, ratio.low, ratio.high), ("stock", 0.75, 0.625, 0.875)
        )

    def test_the_fastest_stock_pattern_and_libgomp_are_compared(self):
        found = row(
            [1.0, 1.0], stock=[4.0, 4.0], stock_linear=[2.0, 2.0], libgomp=[8.0, 8.0]
        ).ratios
        self.assertEqual(
            [(ratio.other, ratio.median) for ratio in found],
            [("stock-linear", 0.5), ("libgomp", 0.125)],
        )

    def test_only_what_is_above_the_limit_of_stock_is_a_loss(self):
        self.assertTrue(row([1.1, 1.1], stock=[1.0, 1.0]).is_loss(1.05))
        self.assertFalse(row([1.0, 1.0], stock=[1.0, 1.0]).is_loss(1.05))
        self.assertFalse(row([1.1, 1.1], stock=[2.0, 2.0], libgomp=[1.0, 1.0]).is_loss(1.05))

    def test_nothing_is_compared_with_an_overhead_of_nothing(self):
        self.assertEqual(row([1.0, 1.0], stock=[-0.1, 0.0]).ratios, ())
        self.assertIn("take no time", ratios.text_of(row([1.0, 1.0], stock=[-0.1, 0.0]), 1.05))

    def test_a_figure_that_one_runtime_lacks_is_left_out(self):
        program = mock.Mock(title="syncbench, gcc", unit="us")
        samples = {"hier": [{"A": 1.0, "B": 1.0}] * 2, "stock": [{"A": 1.0}] * 2}
        self.assertEqual([found.figure for found in ratios.rows_of(program, samples)], ["A"])


class RuntimesTest(unittest.TestCase):
    ARGUMENTS = argparse.Namespace(build_dir=pathlib.Path("/build"), stock_pattern=["linear"])

    def test_only_programs_of_gcc_run_on_libgomp(self):
        names = {
            compiler: [
                runtime.name for runtime in compare_programs.runtimes_for(compiler, self.ARGUMENTS)
            ]
            for compiler in ("clang", "gcc")
        }
        self.assertEqual(
            names,
            {
                "clang": ["hier", "stock", "stock-linear"],
                "gcc": ["hier", "stock", "stock-linear", "libgomp"],
            },
        )

    def test_variables_of_the_user_do_not_reach_the_programs(self):
        with mock.patch.dict(
            os.environ, {"KMP_BLOCKTIME": "0", "LD_LIBRARY_PATH": "/mine", "HOME": "/home/me"}
        ):
            hier, stock, linear, libgomp = (
                runtime.environment(10**6)
                for runtime in compare_programs.runtimes_for("gcc", self.ARGUMENTS)
            )
        self.assertEqual(
            (hier["LD_LIBRARY_PATH"], hier["KMP_BARRIER"], hier["HOME"]),
            ("/build/lib", "hier", "/home/me"),
        )
        self.assertEqual(stock["LD_LIBRARY_PATH"], "/build/stock/lib")
        self.assertEqual(linear["KMP_FORKJOIN_BARRIER_PATTERN"], "linear,linear")
        for environment in (hier, stock, linear, libgomp):
            self.assertNotIn("KMP_BLOCKTIME", environment)
            self.assertNotIn("OMP_PLACES", environment)  # more threads than cpus
        self.assertNotIn("LD_LIBRARY_PATH", libgomp)


if __name__ == "__main__":
    unittest.main()
