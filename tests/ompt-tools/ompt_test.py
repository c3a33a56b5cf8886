#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs with libhierbar_ompt.so and looks at the reports. Options are those of
ompt_program.py."""

import csv
import json
import os
import resource
import subprocess
import sys
import time

import ompt_program
from ompt_program import environment_with, has_trees, is_ours, options, run


def without_unit(level):
    """'release 1' for 'release 1 (L3)'."""
    return level.partition(" (")[0]


class Reports(ompt_program.Program):
    def report(self, *arguments, **variables):
        run(arguments, self.directory, HIERBAR_REPORT="json", HIERBAR_OUTPUT="report", **variables)
        return json.loads((self.directory / "report.json").read_text())

    def site(self, report, kind, team_size=2):
        found = [
            site
            for site in report["sites"]
            if site["kind"] == kind and site["team_size"] == team_size
        ]
        self.assertEqual(len(found), 1, f"{kind}: {[site['kind'] for site in report['sites']]}")
        return found[0]

    def check_sums(self, report):
        """What must hold in every report."""
        for site in report["sites"]:
            self.assertEqual(
                sum(thread["last_arrivals"] for thread in site["threads"]), site["barriers"]
            )
            for thread in site["threads"]:
                self.assertEqual(thread["imbalance_ns"]["count"], site["barriers"])
            for times in [site["imbalance_ns"], site["sync_ns"], site["barrier_ns"]]:
                self.assertEqual(sum(count for _, count in times["buckets"]), times["count"])
                self.assertLessEqual(times["p50"], times["p99"])
                self.assertLessEqual(times["p99"], times["max"])

    def test_imbalance(self):
        count, ns = (20000, 20000) if options().strict else (500, 20000)
        report = self.report("imbalanced", count, ns)
        self.check_sums(report)
        site = self.site(report, "explicit")
        ends = sum(
            other["barriers"] for other in report["sites"] if other["kind"] == "parallel end"
        )
        self.assertEqual(site["barriers"] + ends + report["lost"]["left_out"], count + 1)
        self.assertEqual(report["lost"]["incomplete"], 0)
        self.assertRegex(
            site["site"], r"^(imbalanced[\w.]*\+0x[0-9a-f]+ \(barriers\)|barriers\+0x[0-9a-f]+)$"
        )
        early, late = site["threads"]
        # Threads that have to share a cpu take turns: each is last in every other barrier, the one
        # that was stopped and then the one that works.
        self.assertGreater(late["last_arrivals"], 0.25 * site["barriers"])
        self.assertGreater(early["imbalance_ns"]["mean"] + early["sync_ns"]["mean"], 0.25 * ns)
        if options().strict:
            self.assertGreater(late["last_arrivals"], 0.95 * site["barriers"])
            self.assertLess(
                abs(early["imbalance_ns"]["mean"] - ns), 0.05 * ns
            )  # percentiles are right to 6 % only

    def num_region_ends(self, path):
        return sum(
            site["barriers"]
            for site in json.loads(path.read_text())["sites"]
            if (site["kind"], site["team_size"]) == ("parallel end", 2)
        )

    def test_a_killed_program_leaves_a_valid_part(self):
        environment = environment_with(HIERBAR_REPORT="json", HIERBAR_OUTPUT="report")
        program = subprocess.Popen(
            [options().program.resolve(), "regions", "1000000000"],
            env=environment,
            cwd=self.directory,
        )
        part = self.directory / "report.partial.json"
        end = time.monotonic() + 40
        # Parts are renewed. On a loaded machine the first one may come after few barriers.
        while time.monotonic() < end and not (part.exists() and self.num_region_ends(part) > 100):
            time.sleep(0.1)
        program.kill()
        program.wait()
        self.assertEqual(
            [path.name for path in self.directory.iterdir() if path.suffix == ".json"],
            ["report.partial.json"],
        )
        self.check_sums(json.loads(part.read_text()))
        self.assertGreater(self.num_region_ends(part), 100)

    def test_no_part_is_left_beside_the_whole(self):
        self.report("sleep", 1100)
        self.assertEqual([path.name for path in self.directory.iterdir()], ["report.json"])

    def test_sleep_between_regions_is_idle_time(self):
        report = self.report("sleep", 400)
        self.check_sums(report)
        self.assertGreaterEqual(report["idle_ns"], 400e6)
        ends = [site for site in report["sites"] if site["kind"] == "parallel end"]
        self.assertEqual(sum(site["barriers"] for site in ends), 2)
        for site in ends:
            self.assertLess(site["imbalance_ns"]["max"], 300e6)
            self.assertLess(site["sync_ns"]["max"], 300e6)
            self.assertEqual(
                [thread["sync_ns"]["count"] for thread in site["threads"]], [site["barriers"], 0]
            )

    def test_tasks_are_apart(self):
        report = self.report("tasks", 200)
        self.check_sums(report)
        ran = sum(site["tasks_ns"] for site in report["sites"])
        self.assertGreater(
            ran, 150 * 20000
        )  # of 200; a task may also run while the other thread is on its way

    def test_regions_of_two_sizes(self):
        report = self.report("regions", 400)
        self.check_sums(report)
        counts = [
            sum(s["barriers"] for s in report["sites"] if s["team_size"] == size) for size in (2, 3)
        ]
        self.assertEqual(
            sum(counts) + report["lost"]["left_out"] + report["lost"]["incomplete"], 400
        )
        self.assertEqual(report["lost"]["incomplete"], 0)

    def test_levels(self):
        report = self.report("team", 1000, 6)
        self.check_sums(report)
        site = self.site(report, "explicit", team_size=6)
        levels = {level["level"]: level["ns"] for level in site["levels"]}
        if not is_ours():
            self.assertEqual(levels, {})
            self.assertIn("not available", report["levels"])
            return
        # Unbound threads share all cpus of the process, whatever that is called; those of each tree
        # a place.
        if has_trees():
            names = ["gather 1 (core)", "exchange (NUMA)", "release 1 (core)", "outside"]
            groups = [(0, "NUMA", [0, 3]), (1, "core", [0, 1, 2]), (1, "core", [3, 4, 5])]
        else:
            unit = site["groups"][0]["unit"]
            self.assertNotEqual(unit, "")
            names = [f"exchange ({unit})", "outside"]
            groups = [(0, unit, list(range(6)))]
        self.assertEqual(
            [(group["level"], group["unit"], group["threads"]) for group in site["groups"]], groups
        )
        self.assertEqual(list(levels), names)
        self.assertEqual(report["lost"]["backwards"], 0)
        # Where threads outnumber cpus, a primary that comes late releases the others itself in some
        # barriers (docs/design/regions.md#d0117), which have no levels.
        self.check_levels(site, 0 if len(os.sched_getaffinity(0)) >= 6 else site["barriers"] - 1)

    def check_levels(self, site, most_missing):
        """All but `most_missing` of its barriers have levels, which are as long as the barriers,
        but for rounding to whole ns."""
        levels = {without_unit(level["level"]): level["ns"] for level in site["levels"]}
        missing = site["barriers"] - levels["exchange"]["count"]
        self.assertGreaterEqual(missing, 0)
        self.assertLessEqual(missing, most_missing)
        if missing == 0:
            self.assertLess(
                abs(sum(ns["sum"] for ns in levels.values()) - site["barrier_ns"]["sum"]),
                len(levels) * (site["barriers"] + 1),
            )
        return list(levels)

    def test_levels_of_joins_and_reductions(self):
        if not is_ours():
            self.skipTest("the runtime tells no levels")
        report = self.report("reductions", 300, KMP_FORCE_REDUCTION="tree")
        self.check_sums(report)
        names = (
            ["gather 1", "exchange", "release 1", "outside"]
            if has_trees()
            else ["exchange", "outside"]
        )
        self.assertEqual(
            self.check_levels(self.site(report, "implementation", team_size=6), 0), names
        )
        # A worker that leaves the program's last region when the program ends leaves it too late
        # for the report.
        report = self.report("regions", 400)
        for team_size in (2, 3):
            self.assertIn(
                "exchange", self.check_levels(self.site(report, "parallel end", team_size), 1)
            )

    def test_sampling(self):
        report = self.report("imbalanced", 640, 100, HIERBAR_SAMPLE="64")
        self.check_sums(report)
        site = self.site(report, "explicit")
        self.assertEqual(site["barriers"], 10)
        exchanges = [
            level["ns"]["count"]
            for level in site["levels"]
            if without_unit(level["level"]) == "exchange"
        ]
        self.assertEqual(exchanges, [10] if is_ours() else [])

    def test_text_on_standard_error(self):
        ending = run(["imbalanced", 100, 100], self.directory)
        parts = [
            "hierbar: barriers of process",
            "; tool hierbar ",
            "clock ",
            "resolution",
            "a stamp costs",
            "offset ",
            "placement ",
            "cpus for the initial thread",
            "explicit, 2 threads, ",
            "levels ",
        ]
        if is_ours():
            parts += [", with hierbar ", "; place: "]
        for part in parts:
            self.assertIn(part, ending.stderr)
        self.assertEqual(os.listdir(self.directory), [])
        ending = run(["imbalanced", 100, 100], self.directory, PMI_RANK="1")
        self.assertEqual(ending.stderr, "", "only rank 0 prints")

    def test_all_formats_in_files(self):
        ending = run(
            ["imbalanced", 100, 100],
            self.directory,
            HIERBAR_REPORT="text,json,csv",
            HIERBAR_OUTPUT="r%r",
            PMI_RANK="2",
        )
        self.assertEqual(ending.stderr, "")
        self.assertEqual(sorted(os.listdir(self.directory)), ["r2.csv", "r2.json", "r2.txt"])
        rows = list(csv.DictReader((self.directory / "r2.csv").read_text().splitlines()))
        site = self.site(json.loads((self.directory / "r2.json").read_text()), "explicit")
        counts = {
            (row["thread"], row["what"]): int(row["count"])
            for row in rows
            if row["kind"] == "explicit"
        }
        self.assertEqual(counts["all", "barrier"], site["barriers"])
        self.assertEqual(counts["1", "sync"], site["barriers"])

    def test_html(self):
        ending = run(
            ["imbalanced", 100, 100],
            self.directory,
            HIERBAR_REPORT="html,json",
            HIERBAR_OUTPUT="r%r",
            PMI_RANK="2",
        )
        self.assertEqual(ending.stderr, "")
        page = (self.directory / "r2.html").read_text()
        self.assertIn("<title>Barriers of rank 2 on ", page)
        self.assertTrue(page.endswith("</html>\n"))
        command = [options().hierbar.resolve(), "report", self.directory / "r2.json", "--html"]
        again = subprocess.run(
            [*command, self.directory / "again.html"], text=True, capture_output=True
        )
        self.assertEqual((again.returncode, again.stdout, again.stderr), (0, "", ""))
        self.assertEqual((self.directory / "again.html").read_text(), page)
        refused = subprocess.run([*command, "/no/such/place.html"], text=True, capture_output=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("/no/such/place.html", refused.stderr)
        self.assertEqual(len(refused.stderr.splitlines()), 1)

    def test_ranks_are_merged(self):
        for rank in "01":
            run(
                ["imbalanced", 100, 100],
                self.directory,
                HIERBAR_REPORT="json",
                HIERBAR_OUTPUT="r%r",
                PMI_RANK=rank,
            )
        files = [self.directory / f"r{rank}.json" for rank in "01"]
        counts = [self.site(json.loads(file.read_text()), "explicit")["barriers"] for file in files]
        merged = subprocess.run(
            [options().hierbar.resolve(), "report", "--json", *files],
            text=True,
            capture_output=True,
            check=True,
        )
        report = json.loads(merged.stdout)
        self.check_sums(report)
        self.assertEqual(self.site(report, "explicit")["barriers"], sum(counts))
        files[0].write_text("no report")
        refused = subprocess.run(
            [options().hierbar.resolve(), "report", *files], text=True, capture_output=True
        )
        self.assertEqual(refused.returncode, 2)
        self.assertIn("r0.json", refused.stderr)

    def test_mistakes_are_told_once_and_harm_nothing(self):
        for variables, parts in [
            (dict(HIERBAR_REPORT="pdf"), ["HIERBAR_REPORT", "pdf", "using text"]),
            (dict(HIERBAR_SAMPLE="x"), ["HIERBAR_SAMPLE", "x", "using 1"]),
            (
                dict(HIERBAR_OUTPUT="/no/such/place", HIERBAR_REPORT="json"),
                ["/no/such/place.json", "No such file"],
            ),
        ]:
            told = [
                line
                for line in run(
                    ["imbalanced", 10, 100], self.directory, **variables
                ).stderr.splitlines()
                if all(part in line for part in parts)
            ]
            self.assertEqual(len(told), 1, f"{variables}: {told}")

    def test_a_report_that_cannot_be_written_is_told_once_and_leaves_nothing(self):
        (self.directory / "full.json").symlink_to("/dev/full")
        ending = run(
            ["imbalanced", 10, 100], self.directory, HIERBAR_OUTPUT="full", HIERBAR_REPORT="json"
        )
        self.assertEqual(len(ending.stderr.splitlines()), 1)
        self.assertIn("full.json: a device has that name", ending.stderr)
        # As on a full disk; enough for what the runtime itself writes.
        ending = run(
            ["imbalanced", 10, 100],
            self.directory,
            HIERBAR_OUTPUT="long",
            HIERBAR_REPORT="json",
            before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500)),
        )
        self.assertEqual(len(ending.stderr.splitlines()), 1)
        self.assertIn("long.json: File too large", ending.stderr)
        self.assertEqual([file.name for file in self.directory.iterdir()], ["full.json"])

    def check_other_tool(self, program, tool_alone=False, **variables):
        """The other tool sees what it sees alone."""
        if tool_alone:
            variables["OMP_TOOL_LIBRARIES"] = str(options().other_tool.resolve())
        else:
            variables["HIERBAR_OMPT_CHAIN"] = str(options().other_tool.resolve())
        told = [
            line
            for line in run(program, self.directory, **variables).stderr.splitlines()
            if line.startswith("other tool:")
        ]
        self.assertEqual(len(told), 1)
        self.assertIn(", 0 errors", told[0])
        return told[0]

    def test_a_tool_behind_ours_sees_everything(self):
        for program in [("imbalanced", 300, 100), ("regions", 100), ("tasks", 100)]:
            alone = self.check_other_tool(program, tool_alone=True)
            self.assertNotIn(" 0 regions", alone)
            self.assertEqual(
                self.check_other_tool(program, HIERBAR_REPORT="json", HIERBAR_OUTPUT="report"),
                alone,
            )
            self.check_sums(json.loads((self.directory / "report.json").read_text()))
            self.assertEqual(self.check_other_tool(program, HIERBAR_REPORT="none"), alone)

    def test_a_tool_behind_ours_may_stay_away(self):
        other = str(options().other_tool.resolve())
        ending = run(
            ["imbalanced", 100, 100],
            self.directory,
            HIERBAR_OMPT_CHAIN=other,
            OTHER_TOOL="inactive",
        )
        self.assertIn("hierbar: barriers of process", ending.stderr)
        self.assertNotIn("HIERBAR_OMPT_CHAIN", ending.stderr)
        for missing in ["/no/such/tool.so", "libc.so.6"]:
            ending = run(["imbalanced", 100, 100], self.directory, HIERBAR_OMPT_CHAIN=missing)
            self.assertEqual(
                sum(
                    "HIERBAR_OMPT_CHAIN" in line and missing in line
                    for line in ending.stderr.splitlines()
                ),
                1,
            )
            self.assertIn("hierbar: barriers of process", ending.stderr)

    def test_none_leaves_the_program_alone(self):
        self.assertEqual(
            run(["imbalanced", 10, 100], self.directory, HIERBAR_REPORT="none").stderr, ""
        )
        self.assertEqual(
            run(["imbalanced", 10, 100], self.directory, OMP_TOOL="disabled").stderr, ""
        )


if __name__ == "__main__":
    sys.exit(ompt_program.main())
