# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What report_test.py runs for barriers of all threads of all ranks."""

import collections
import json
import subprocess

import check_trace

MS = 1_000_000


class TeamReports:
    """A part of report_test.Reports, which has the functions that are called here."""

    def test_a_late_thread_of_a_team(self):
        report = self.report(2, "team", 0, 20 * MS, 40)
        site = self.site(report, "team barrier")
        self.assertEqual(site["barriers"] + report["lost"]["left_out"], 40)
        self.assertEqual(
            (site["team_size"], site["threads_of_ranks"], report["processes"]), (3, [2, 1], 2)
        )
        self.assertEqual([thread["member"] for thread in site["threads"]], ["0.0", "0.1", "1.0"])
        self.assertEqual(
            [group["members"] for group in site["groups"] if group["level"] == 0],
            [["0.0", "0.1", "1.0"]],
        )
        self.assertRegex(site["site"], r"^(run_\w+ \(reported\.cpp:\d+\)|reported\+0x[0-9a-f]+)$")
        self.check_imbalance(site, 1, 20 * MS)

    def test_a_late_thread_of_another_node(self):
        report = self.report(4, "team", 2, 20 * MS, 40, HIERBAR_FAKE_NODES="2")
        site = self.site(report, "team barrier, several nodes")
        self.assertEqual(site["barriers"] + report["lost"]["left_out"], 40)
        self.assertEqual(
            [thread["member"] for thread in site["threads"]],
            ["0.0", "0.1", "1.0", "2.0", "2.1", "3.0"],
        )
        self.check_imbalance(site, 4, 20 * MS)

    def test_table_of_a_team(self):
        ending = self.run_ranks(2, "team", 1, 1000, 50, HIERBAR_REPORT="text", HIERBAR_OUTPUT="")
        self.assertIn("team barrier, 3 threads, ", ending.stderr)
        self.assertRegex(ending.stderr, r"(?m)^    rank\.thread ")
        self.assertRegex(ending.stderr, r"(?m)^    0\.1 ")

    def test_time_line_of_a_team(self):
        """More barriers than a thread keeps records of: the last ones are all there. Ranks have two
        threads and one, in turn.
        """
        for ranks, nodes, leaders in [(2, "1", {"0.0", "0.1", "1.0"}), (4, "2", {"0.0", "1.0"})]:
            self.run_ranks(
                ranks,
                "team",
                1,
                1000,
                1500,
                HIERBAR_REPORT="json,perfetto",
                HIERBAR_TRACE_EVENTS="1400",
                HIERBAR_FAKE_NODES=nodes,
            )
            num_threads = 3 * ranks // 2
            report = self.read("run-all.json")
            self.assertEqual(
                (report["trace"]["kept"], report["trace"]["dropped"]),
                (num_threads * 1400, num_threads * 100),
            )
            for rank in range(ranks):
                text = (self.directory / f"run-{rank}.mpi.trace.json").read_text()
                self.assertEqual(check_trace.check(text), [])
                self.check_rows(
                    json.loads(text)["traceEvents"],
                    rank,
                    leaders,
                    "team barrier" + ", several nodes" * (ranks == 4),
                )

    def check_rows(self, events, rank, leaders, kind):
        pids = {
            event["args"]["name"].split(", ")[1]: event["pid"]
            for event in events
            if event["name"] == "process_name"
        }
        self.assertEqual(set(pids), {"MPI_Barrier", "team barriers"})
        for thread in range(1 if rank % 2 else 2):
            slices = [
                event
                for event in events
                if (event["ph"], event["pid"], event["tid"])
                == ("X", pids["team barriers"], thread + 1)
            ]
            steps = collections.Counter(event["name"] for event in slices)
            self.assertEqual(steps["barrier"], 1400)
            self.assertEqual(
                steps["exchange" if f"{rank}.{thread}" in leaders else "release"], 1400
            )
            self.assertEqual(
                {event["cat"] for event in slices if event["name"] == "barrier"}, {kind}
            )

    def test_a_team_beside_the_tool(self):
        """One report has the OpenMP barriers of each rank, and those of all threads of all ranks
        with levels and members.
        """
        if not self.arguments.tool:
            self.skipTest("no OpenMP library with OMPT")
        self.run_ranks(
            2,
            "hybrid_team",
            1,
            5 * MS,
            40,
            OMP_TOOL_LIBRARIES=self.arguments.tool.resolve(),
            LD_LIBRARY_PATH=self.arguments.libomp_dir.resolve(),
            HIERBAR_REPORT="json,html,perfetto",
        )
        report = self.read("run-all.json")
        self.check_sums(report)
        self.assertLessEqual(
            {"explicit", "team barrier"}, {site["kind"] for site in report["sites"]}
        )
        site = self.site(report, "team barrier")
        self.assertEqual(
            [thread["member"] for thread in site["threads"]], ["0.0", "0.1", "1.0", "1.1"]
        )
        self.assertEqual(
            [group["members"] for group in site["groups"]], [["0.0", "0.1", "1.0", "1.1"]]
        )
        self.check_imbalance(site, 3, 5 * MS)
        self.assertIn(
            '"members":["0.0","0.1","1.0","1.1"]', (self.directory / "run-all.html").read_text()
        )
        # The pictures of the tool and of the shim are one, with each rank's threads in both.
        together = self.directory / "all.json"
        subprocess.run(
            [
                self.arguments.hierbar,
                "report",
                *sorted(self.directory.glob("*.trace.json")),
                "--perfetto",
                together,
            ],
            check=True,
            capture_output=True,
        )
        self.assertEqual(check_trace.check(together.read_text()), [])
        events = json.loads(together.read_text())["traceEvents"]
        kinds = {(event["cat"], event["tid"]) for event in events if event["name"] == "barrier"}
        self.assertLessEqual(
            {(kind, thread) for kind in ("explicit", "team barrier") for thread in (1, 2)}, kinds
        )
