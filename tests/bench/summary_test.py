#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of bench/common/report/summary.py: which rows it makes of a benchmark's figures."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/common/report"))
import summary  # noqa: E402


def series(name, kind, ns):
    return {"name": name, "kind": kind, "summary": {"median": ns} if ns is not None else None}


def openmp(threads, construct, *entries):
    return {"threads": threads, "construct": construct, "series": list(entries)}


class SummaryTest(unittest.TestCase):
    def rows(self, name, *groups):
        return [row for row in summary.rows_of({"format": f"hierbar-{name}-barrier-bench-1", "groups": list(groups)}) if row]

    def test_the_fastest_other_configuration_is_the_peer(self):
        [row] = self.rows("omp", openmp(2, "barrier", series("hier", "hier", 100.0), series("hyper", "stock", 250.0),
                                        series("libgomp", "libgomp", 200.0), series("floor", "floor", 50.0),
                                        series("hier-gcc", "other", 90.0)))
        self.assertEqual((row["peer"], row["ours_ns"], row["peer_ns"], row["ratio"]), ("libgomp", 100.0, 200.0, 0.5))
        self.assertEqual(row["title"], "OpenMP barrier, 2 threads")

    def test_the_largest_team_gives_its_barrier_only(self):
        both = [series("hier", "hier", 1.0), series("hyper", "stock", 2.0)]
        rows = self.rows("omp", openmp(2, "barrier", *both), openmp(2, "parallel", *both), openmp(4, "barrier", *both),
                         openmp(8, "barrier", *both), openmp(8, "parallel", *both))
        self.assertEqual([row["title"] for row in rows],
                         ["OpenMP barrier, 2 threads", "parallel region, 2 threads", "OpenMP barrier, 8 threads"])

    def test_each_mpi_library_is_compared_with_itself(self):
        group = {"ranks": 2, "quantity": "period",
                 "series": [series("hier", "hier", 70.0), series("mpich", "mpich", 300.0), series("openmpi", "openmpi", 150.0),
                            series("openmpi-shm", "openmpi", 140.0), series("openmpi-hier", "other", 77.0)]}
        self.assertEqual([(row["ours_ns"], row["peer"]) for row in self.rows("mpi", group)],
                         [(70.0, "mpich"), (77.0, "openmpi-shm")])

    def test_a_configuration_that_failed_gives_no_row(self):
        self.assertEqual(self.rows("omp", openmp(2, "barrier", series("hier", "hier", None), series("hyper", "stock", 2.0))), [])
        self.assertEqual(self.rows("omp", openmp(2, "barrier", series("hier", "hier", 1.0))), [])

    def test_times_keep_their_number_short(self):
        for ns, text in ((9999.0, "9999 ns"), (12000.0, "12 µs"), (112e6, "112 ms"), (11e9, "11 s")):
            self.assertEqual(summary.time_text(ns), text)


if __name__ == "__main__":
    unittest.main()
