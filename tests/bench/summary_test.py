#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of bench/common/report/summary.py: which rows it makes of a benchmark's figures."""

import copy
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/common/report"))
import summary  # noqa: E402

RECORDED = pathlib.Path(__file__).parent / "recorded"


def series(name, kind, *ns):
    """A series with one sample in each repetition."""
    middle = sorted(ns)[len(ns) // 2] if ns else None
    return {
        "name": name,
        "kind": kind,
        "failure": None,
        "summary": {"median": middle} if ns else None,
        "samples": [{"repetition": i, "ns": [one]} for i, one in enumerate(ns)],
    }


def group(participant, count, quantity, *entries, disturbed=None):
    key = "construct" if participant == "threads" else "quantity"
    repetitions = max((len(entry["samples"]) for entry in entries), default=0)
    return {
        participant: count,
        key: quantity,
        "disturbed": disturbed,
        "series": list(entries),
        "blocks": [{"repetition": i, "kept": True} for i in range(repetitions)],
    }


def report(name, *groups):
    return {
        "format": f"hierbar-{name}-barrier-bench-1",
        "groups": list(groups),
        "run": {"cpu_share_of_others": 0.01},
        "host": {
            "cpu": "a processor",
            "topology": "2 cpus",
            "virtual": False,
            "allowed_cpus": [0, 1],
        },
    }


def recorded(name):
    return json.loads((RECORDED / name).read_text(encoding="utf-8"))


class SummaryTest(unittest.TestCase):
    def rows(self, *reports):
        return [row for row in summary.rows_of(reports) if "ratio" in row]

    def test_the_fastest_other_configuration_is_the_peer(self):
        [row, gcc] = self.rows(
            report(
                "omp",
                group(
                    "threads",
                    2,
                    "barrier",
                    series("hier", "hier", 100.0),
                    series("hyper", "stock", 250.0),
                    series("libgomp", "libgomp", 200.0),
                    series("floor", "floor", 50.0),
                    series("hier-gcc", "other", 90.0),
                ),
            )
        )
        self.assertEqual(
            (row["peer"], row["ours_ns"], row["peer_ns"], row["ratio"]),
            ("libgomp", 100.0, 200.0, 0.5),
        )
        self.assertEqual((row["title"], row["floor_ns"]), ("OpenMP barrier, 2 threads", 50.0))
        self.assertEqual((gcc["title"], gcc["peer"]), ("the same, GCC's libgomp", "libgomp"))

    def test_the_floor_is_the_fastest_of_all_its_variants(self):
        for kind in ("floor", "hint"):  # older files call those in one line hints
            [row] = self.rows(
                report(
                    "omp",
                    group(
                        "threads",
                        2,
                        "barrier",
                        series("hier", "hier", 100.0),
                        series("hyper", "stock", 250.0),
                        series("exchange-mov", "floor", 90.0),
                        series("packed-mov", kind, 60.0),
                    ),
                )
            )
            self.assertEqual(row["floor_ns"], 60.0)

    def test_tasks_of_one_thread_do_not_hide_the_rows_of_two(self):
        both = [series("hier", "hier", 1.0), series("hyper", "stock", 2.0)]
        rows = self.rows(
            report(
                "omp",
                group("threads", 1, "tasks", *both),
                group("threads", 2, "barrier", *both),
                group("threads", 2, "parallel", *both),
                group("threads", 4, "barrier", *both),
                group("threads", 8, "barrier", *both),
                group("threads", 8, "parallel", *both),
            )
        )
        self.assertEqual(
            [row["title"] for row in rows],
            [
                "OpenMP barrier, 2 threads",
                "parallel region, 2 threads",
                "OpenMP barrier, 8 threads",
            ],
        )

    def test_each_mpi_library_is_compared_with_itself(self):
        pair = group(
            "ranks",
            2,
            "period",
            series("hier", "hier", 70.0),
            series("mpich", "mpich", 300.0),
            series("openmpi", "openmpi", 150.0),
            series("openmpi-shm", "openmpi", 140.0),
            series("openmpi-hier", "other", 77.0),
        )
        self.assertEqual(
            [(row["ours_ns"], row["peer"]) for row in self.rows(report("mpi", pair))],
            [(70.0, "mpich"), (77.0, "openmpi-shm")],
        )

    def test_a_decode_is_that_of_all_cpus_with_its_shares_of_synchronisation(self):
        def decode(count, construct):
            entries = [
                series("hier", "hier", 110.0),
                series("hyper", "stock", 150.0),
                series("spin", "other", 125.0),
                series("work", "floor", 100.0),
            ]
            for entry, share in zip(entries, (0.0909, 0.333, 0.2, None)):
                entry["sync_share"] = {"median": share} if share else None
            return group("threads", count, construct, *entries)

        figures = report(
            "omp", decode(2, "decode"), decode(4, "decode"), decode(2, "decode-regions")
        )
        rows = self.rows(figures)
        self.assertEqual(
            [(row["title"], row["peer"], row["ratio"], row["floor_ns"]) for row in rows],
            [
                ("decode, 2 threads, barriers", "spin", 0.88, 100.0),
                ("decode, 2 threads, regions", "spin", 0.88, 100.0),
            ],
        )
        self.assertEqual(
            summary.notes([figures], rows).split("\n")[0],
            "decode, 2 threads, barriers: synchronisation takes 9.1 % of the time, 20.0 % with "
            "spin.",
        )
        self.assertNotIn("synchronisation", summary.notes([report("omp")], []))

    def test_the_ratio_is_that_of_the_repetitions_which_were_kept(self):
        one = group(
            "threads",
            2,
            "barrier",
            series("hier", "hier", 1.0, 2.0, 90.0),
            series("hyper", "stock", 4.0, 4.0, 5.0),
        )
        one["blocks"][2]["kept"] = False
        [row] = self.rows(report("omp", one))
        self.assertEqual((row["ratio"], row["spread"], row["doubt"]), (0.375, (0.25, 0.5), ""))

    def test_rows_without_figures_say_so(self):
        failed = group(
            "threads", 2, "barrier", series("hier", "hier"), series("hyper", "stock", 2.0)
        )
        rows = summary.rows_of([report("omp", failed), report("mpi")])
        self.assertEqual(self.rows(report("omp", failed), report("mpi")), [])
        self.assertEqual(summary.line(rows[0]).split("  ")[0], "OpenMP barrier, 2 threads")
        for row in rows:
            self.assertRegex(summary.line(row), "not measured$")

    def test_a_word_stands_where_a_ratio_would_mean_nothing(self):
        def word(ours, disturbed=None):
            [row] = self.rows(
                report(
                    "omp",
                    group(
                        "threads",
                        2,
                        "barrier",
                        series("hier", "hier", *ours),
                        series("hyper", "stock", *[100.0] * len(ours)),
                        disturbed=disturbed,
                    ),
                )
            )
            return row["doubt"], summary.line(row)

        self.assertEqual(word((2.0, 300.0))[0], "unclear")
        self.assertNotIn("1.51", word((2.0, 300.0))[1], "no number between 0.02 and 3")
        self.assertIn("1/50 .. 3.00", word((2.0, 300.0))[1])
        self.assertEqual(word((30.0, 110.0))[0], "", "less than a factor of 4 apart")
        self.assertEqual(word((1.0, 20.0))[0], "", "all far below 1")
        self.assertEqual(word((50.0, 50.0), 0.4)[0], "disturbed")

    def test_what_others_took_is_always_said(self):
        quiet, busy = report("omp"), report(
            "omp",
            group(
                "threads",
                2,
                "barrier",
                series("hier", "hier", 1.0),
                series("hyper", "stock", 2.0),
                disturbed=0.3,
            ),
        )
        busy["run"]["cpu_share_of_others"] = 0.5
        self.assertEqual(
            summary.notes([quiet], summary.rows_of([quiet])), "Others took 1 % of the cpus' time."
        )
        self.assertRegex(
            summary.notes([quiet, busy], summary.rows_of([busy])),
            r"^Others took 50 % of the cpus' time.\ndisturbed: .* no verdict",
        )

    def test_the_limit_is_that_of_the_benchmarks(self):
        header = (ROOT / "bench/common/statistics.hpp").read_text(encoding="utf-8")
        self.assertIn(f"kLargestSpread = {summary.LARGEST_SPREAD};", header)

    def test_the_plot_of_the_readme_has_every_row(self):
        plotted = json.loads((ROOT / "docs/results/two-cpus.json").read_text(encoding="utf-8"))
        self.assertEqual(plotted["format"], summary.FORMAT)
        self.assertEqual(
            [row["title"] for row in plotted["rows"]],
            [
                row.title.format(
                    count={"smallest": 2, "largest": 16, "cpus": 2}[row.size], cpus="2 cpus"
                )
                for row in summary.ROWS
            ],
        )
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        for theme in ("light", "dark"):
            picture = (ROOT / f"docs/results/two-cpus-{theme}.svg").read_text(encoding="utf-8")
            self.assertIn(f"docs/results/two-cpus-{theme}.svg", readme)
            for row in plotted["rows"]:
                self.assertEqual(
                    f">{row['title']}<" in picture,
                    "ratio" in row and not row["doubt"],
                    row["title"],
                )

    def test_times_and_ratios_keep_their_numbers_short(self):
        for ns, text in (
            (9999.0, "9999 ns"),
            (12000.0, "12 µs"),
            (112e6, "112 ms"),
            (11e9, "11 s"),
        ):
            self.assertEqual(summary.time_text(ns), text)
        for ratio, text in ((2.016, "2.02"), (0.4, "0.40"), (0.095, "0.10"), (0.0004, "1/2500")):
            self.assertEqual(summary.number(ratio), text)


class RecordedRunTest(unittest.TestCase):
    """A run of the demo on two cpus that other programs used, with the median of each repetition
    only. It has no decodes.
    """

    def test_every_row_has_figures(self):
        rows = summary.rows_of([recorded("demo-openmp.json"), recorded("demo-mpi.json")])
        self.assertEqual(len(rows), len(summary.ROWS))
        decodes = [row for row in rows if row["title"].startswith("decode")]
        self.assertEqual(len(decodes), 2)
        self.assertTrue(all(summary.line(row).endswith("not measured") for row in decodes))
        rows = [row for row in rows if row not in decodes]
        for row in rows:
            self.assertIn("ratio", row, row["title"])
            self.assertIsNotNone(
                row["floor_ns"] if "elsewhere" not in row["title"] else 0, row["title"]
            )
            self.assertLess(len(summary.line(row)), 121, "one screen")

    def test_disturbed_rows_have_no_number(self):
        reports = [recorded("demo-openmp.json"), recorded("demo-mpi.json")]
        disturbed = copy.deepcopy(reports)
        for one in disturbed:
            for group_of_run in one["groups"]:
                group_of_run["disturbed"] = 0.4
        rows = [row for row in summary.rows_of(disturbed) if "ratio" in row]
        self.assertEqual(len(rows), len(summary.ROWS) - 2)
        lines = summary.table(rows).split("\n")[1:]
        self.assertTrue(all(" disturbed " in line for line in lines), "\n".join(lines))


if __name__ == "__main__":
    unittest.main()
