#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs MPI programs with HIERBAR_REPORT under the shim and looks at the reports.

    report_test.py --mpi mpich --shim build/release/lib/libhierbar_mpi.so
        --hierbar bin/hierbar --program reported
        [--tool libhierbar_ompt.so --libomp-dir /usr/lib/llvm-19/lib]

With --tool, --program has been compiled with OpenMP for a library with OMPT. What is checked holds
on a busy machine as well.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "mpi"), str(TESTS / "ompt-tools")]
import check_trace  # noqa: E402
import launcher  # noqa: E402
import team_reports  # noqa: E402

ARGUMENTS = None
MS = 1_000_000
# Nine ranks on two cpus, by turns.
BOUND = {
    "mpich": ["-bind-to", "user:0,1,0,1,0,1,0,1,0"],
    "ompi": ["--map-by", "core", "--bind-to", "core:overload-allowed"],
}


def quantile(times, share):
    """The shortest duration of the bucket that it is in."""
    seen = 0
    for first_ns, count in times["buckets"]:
        seen += count
        if seen >= share * times["count"]:
            return first_ns
    return 0


class Reports(team_reports.TeamReports, unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = pathlib.Path(scratch.name)

    def run_ranks(self, ranks, *arguments, ends_well=True, command=(), launch=(), **variables):
        settings = {
            "LD_PRELOAD": ARGUMENTS.shim.resolve(),
            "HIERBAR_REPORT": "json",
            "HIERBAR_OUTPUT": self.directory / "run-%r",
        }
        settings.update(variables)
        words = [*command, str(ARGUMENTS.program.resolve()), *map(str, arguments)]
        words = launcher.launch_command(
            ARGUMENTS, ranks, [f"{name}={value}" for name, value in settings.items()], launch, words
        )
        ending = subprocess.run(
            words,
            env=launcher.launch_environment(ARGUMENTS),
            cwd=self.directory,
            text=True,
            capture_output=True,
            timeout=60,
        )
        if ends_well:
            self.assertEqual(
                (ending.returncode, ending.stdout),
                (0, "done\n"),
                f"the program is harmed: {ending}",
            )
        else:
            self.assertNotEqual(ending.returncode, 0)
        return ending

    def files(self):
        return sorted(path.name for path in self.directory.iterdir())

    def read(self, name):
        return json.loads((self.directory / name).read_text())

    def report(self, *arguments, **variables):
        self.run_ranks(*arguments, **variables)
        self.assertEqual(self.files(), ["run-all.json"], "one report, and nothing else")
        report = self.read("run-all.json")
        self.check_sums(report)
        return report

    def site(self, report, kind="MPI_Barrier"):
        found = [site for site in report["sites"] if site["kind"] == kind]
        self.assertEqual(len(found), 1, f"{kind}: {[site['kind'] for site in report['sites']]}")
        return found[0]

    def check_sums(self, report):
        """What must hold in every report of all ranks."""
        self.assertEqual(report["lost"]["incomplete"], 0)
        self.assertEqual(report["lost"]["backwards"], 0)
        for site in report["sites"]:
            if not site["kind"].startswith(("MPI_Barrier", "team barrier")):
                continue
            self.assertEqual(site["barrier_ns"]["count"], site["barriers"])
            self.assertEqual(
                sum(thread["last_arrivals"] for thread in site["threads"]), site["barriers"]
            )
            levels = {
                re.sub(r" \(.*\)", "", level["level"]): level["ns"] for level in site["levels"]
            }
            self.assertEqual(levels["exchange"]["count"], site["barriers"])
            # Each barrier's way is as long as the barrier, but for rounding to whole ns.
            total = sum(ns["sum"] for ns in levels.values())
            self.assertLess(
                abs(total - site["barrier_ns"]["sum"]), len(levels) * site["barriers"] + 1
            )

    def check_imbalance(self, site, late, ns):
        """One rank is late: so it is the last, and the others wait for it. On a busy machine others
        may be stopped, too.
        """
        for thread in site["threads"]:
            self.assertEqual(thread["imbalance_ns"]["count"], site["barriers"])
            if thread["thread"] == late:
                self.assertGreater(thread["last_arrivals"], 0.6 * site["barriers"])
                self.assertLess(quantile(thread["imbalance_ns"], 0.5), 0.1 * ns)
            else:
                self.assertGreater(quantile(thread["imbalance_ns"], 0.5), 0.5 * ns)
                self.assertLess(quantile(thread["imbalance_ns"], 0.2), 1.5 * ns)

    def test_a_late_rank(self):
        report = self.report(2, "world", 1, 20 * MS, 40)
        site = self.site(report)
        self.assertEqual(site["barriers"] + report["lost"]["left_out"], 40)
        self.assertEqual((site["team_size"], report["processes"]), (2, 2))
        self.assertRegex(site["site"], r"^(run_\w+ \(reported\.cpp:\d+\)|reported\+0x[0-9a-f]+)$")
        self.check_imbalance(site, 1, 20 * MS)

    def test_a_late_rank_of_another_node(self):
        report = self.report(4, "world", 3, 20 * MS, 40, HIERBAR_FAKE_NODES="2")
        site = self.site(report, "MPI_Barrier, several nodes")
        self.assertEqual(site["barriers"] + report["lost"]["left_out"], 40)
        self.check_imbalance(site, 3, 20 * MS)

    def test_communicators_freed_and_not(self):
        for what in ["parts", "alive"]:
            report = self.report(4, what, 0, 1000, 50)
            # 50 of the world and 50 of its duplicate; 50 of each of two pairs.
            self.assertEqual(sorted(site["team_size"] for site in report["sites"]), [2, 4])
            self.assertEqual(
                sum(site["barriers"] for site in report["sites"]) + report["lost"]["left_out"], 200
            )

    def test_trees(self):
        report = self.report(
            9,
            "world",
            0,
            0,
            50,
            HIERBAR_TOPOLOGY="l3:2 core:2 pu:1(indexes=0,2,1,3)",
            HIERBAR_SAMPLE="2",
            launch=BOUND[ARGUMENTS.mpi],
        )
        site = self.site(report)
        self.assertEqual(site["barriers"] + report["lost"]["left_out"], 25)
        self.assertEqual(
            [level["level"] for level in site["levels"]],
            ["gather 1 (core)", "exchange (NUMA)", "release 1 (core)", "outside"],
        )

    def test_table_on_standard_error(self):
        ending = self.run_ranks(2, "world", 1, 1000, 50, HIERBAR_REPORT="text", HIERBAR_OUTPUT="")
        self.assertEqual(ending.stderr.count("hierbar: "), 1, ending.stderr)
        self.assertIn("hierbar: barriers of 2 processes", ending.stderr)
        self.assertIn("MPI_Barrier, 2 ranks, ", ending.stderr)
        self.assertEqual(self.files(), [])

    def test_formats_and_names(self):
        self.run_ranks(
            2,
            "world",
            1,
            1000,
            50,
            HIERBAR_REPORT="text,csv",
            HIERBAR_OUTPUT=self.directory / "run",
        )
        self.assertEqual(self.files(), ["run.csv", "run.txt"])

    def test_time_line(self):
        self.run_ranks(4, "world", 1, 1000, 50, HIERBAR_REPORT="json,perfetto")
        self.assertEqual(
            self.files(), [f"run-{rank}.mpi.trace.json" for rank in range(4)] + ["run-all.json"]
        )
        report = self.read("run-all.json")
        self.assertEqual((report["trace"]["kept"], report["trace"]["dropped"]), (200, 0))
        for rank in range(4):
            text = (self.directory / f"run-{rank}.mpi.trace.json").read_text()
            self.assertEqual(check_trace.check(text), [])
            steps = collections.Counter(
                event["name"] for event in json.loads(text)["traceEvents"] if event["ph"] == "X"
            )
            self.assertEqual(steps, {"barrier": 50, "exchange": 50}, "four ranks are all leaders")
        together = self.directory / "all.json"
        subprocess.run(
            [
                ARGUMENTS.hierbar,
                "report",
                *sorted(self.directory.glob("*.mpi.trace.json")),
                "--perfetto",
                together,
            ],
            check=True,
            capture_output=True,
        )
        events = json.loads(together.read_text())["traceEvents"]
        named = [event["args"]["name"] for event in events if event["name"] == "process_name"]
        self.assertEqual(
            [name.split(" @")[0] for name in named], [f"rank {rank}" for rank in range(4)]
        )
        self.assertTrue(all(name.endswith(", MPI_Barrier") for name in named), named)

    def test_on_the_machine(self):
        self.run_ranks(
            2, "world", 1, 1000, 50, HIERBAR_REPORT="json,lstopo", launch=BOUND[ARGUMENTS.mpi]
        )
        self.assertEqual(self.files(), ["run-all.json", "run-all.lstopo.xml"])
        site = self.site(self.read("run-all.json"))
        self.assertEqual([thread["cpus"] for thread in site["threads"]], ["0", "1"])
        self.assertIn(
            'name="hierbar exchange ns"', (self.directory / "run-all.lstopo.xml").read_text()
        )

    def test_nothing_without_the_variable(self):
        for variables in [{"HIERBAR_REPORT": ""}, {"HIERBAR_REPORT": "none"}]:
            self.assertEqual(self.run_ranks(2, "world", 1, 1000, 50, **variables).stderr, "")
            self.assertEqual(self.files(), [])

    def test_asked_in_one_rank_only(self):
        script = 'case $PMI_RANK$OMPI_COMM_WORLD_RANK in 0) ;; *) unset HIERBAR_REPORT ;; esac; exec "$@"'
        self.run_ranks(2, "world", 1, 1000, 50, command=["/bin/sh", "-c", script, "sh"])
        self.assertEqual(self.files(), ["run-0.json"], "a report of its own, without barriers")
        self.assertEqual(self.read("run-0.json")["sites"], [])

    def test_bad_setting_is_one_message(self):
        ending = self.run_ranks(2, "world", 1, 1000, 50, HIERBAR_SAMPLE="often")
        self.assertEqual(ending.stderr.count("hierbar: "), 1, ending.stderr)
        self.assertIn(
            'HIERBAR_SAMPLE="often" is not a whole number from 1 to 1000000; using 1', ending.stderr
        )

    def test_unwritable(self):
        (self.directory / "run-all.json").symlink_to("/dev/full")
        for output, reason in [
            ("/nonexistent/run", "No such file"),
            (self.directory / "run-%r", "a device has that name"),
        ]:
            ending = self.run_ranks(2, "world", 1, 1000, 50, HIERBAR_OUTPUT=output)
            self.assertEqual(ending.stderr.count("hierbar: "), 1, ending.stderr)
            self.assertRegex(ending.stderr, f"hierbar: cannot write the report .*json: {reason}")

    def check_partial(self, num_ranks, least):
        """What is left of a program that did not end: of every rank, readable, and together what
        all of them had settled.
        """
        names = self.files()
        self.assertEqual(names, [f"run-{rank}.partial.json" for rank in range(num_ranks)])
        for rank, name in enumerate(names):
            report = self.read(name)
            self.assertEqual(report["process"]["rank"], rank)
            self.assertGreaterEqual(self.site(report)["threads"][0]["imbalance_ns"]["count"], least)
        merged = subprocess.run(
            [ARGUMENTS.hierbar.resolve(), "report", "--json", *names],
            cwd=self.directory,
            text=True,
            capture_output=True,
            check=True,
        )
        self.check_sums(json.loads(merged.stdout))
        return json.loads(merged.stdout)

    def test_killed(self):
        self.run_ranks(2, "kill", 0, 1000, 50, ends_well=False)
        self.check_partial(2, 15)

    def test_aborted(self):
        self.run_ranks(2, "abort", 0, 1000, 48, ends_well=False)
        self.assertEqual(
            self.site(self.read("run-1.partial.json"))["threads"][0]["imbalance_ns"]["count"], 46
        )

    def test_ranks_times_threads(self):
        if not ARGUMENTS.tool:
            self.skipTest("no OpenMP library with OMPT")
        report = self.report(
            2,
            "hybrid",
            1,
            1000,
            80,
            OMP_TOOL_LIBRARIES=ARGUMENTS.tool.resolve(),
            LD_LIBRARY_PATH=ARGUMENTS.libomp_dir.resolve(),
        )
        self.assertEqual(report["processes"], 2)
        kinds = {site["kind"]: site for site in report["sites"]}
        self.assertLessEqual({"explicit", "parallel end", "MPI_Barrier"}, set(kinds))
        # 80 regions of two barriers in each of two processes, and 80 barriers of both.
        self.assertEqual(
            sum(site["barriers"] for site in report["sites"]) + report["lost"]["left_out"],
            2 * 2 * 80 + 80,
        )
        self.assertIn("LLVM OMP", report["runtime"])
        self.assertIn("MPI", report["runtime"])


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    launcher.add_arguments(parser)
    for name in ["--shim", "--hierbar", "--program"]:
        parser.add_argument(name, type=pathlib.Path, required=True)
    for name in ["--tool", "--libomp-dir"]:
        parser.add_argument(name, type=pathlib.Path)
    ARGUMENTS, rest = parser.parse_known_args()
    Reports.arguments = ARGUMENTS
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
