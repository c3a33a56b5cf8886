#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs with libhierbar_ompt.so and looks at the pictures that it draws of them. Options
are those of ompt_program.py."""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree

import check_trace
import ompt_program
from ompt_program import has_trees, is_ours, options


class Checker(unittest.TestCase):
    """That the checker finds what it is for."""

    def problems(self, *slices):
        return check_trace.check_nesting([(begin, end, name) for begin, end, name in slices])

    def test_sees_what_is_not_nested(self):
        self.assertEqual(
            self.problems(
                (0, 10, "barrier"), (0, 4, "gather"), (4, 10, "release"), (10, 12, "barrier")
            ),
            [],
        )
        self.assertEqual(len(self.problems((0, 10, "barrier"), (5, 11, "release"))), 1)
        self.assertEqual(
            len(self.problems((0, 10, "barrier"), (0, 5, "gather"), (4, 9, "release"))), 1
        )
        self.assertEqual(len(self.problems((0, 10, "barrier"), (12, 13, "task"))), 1)


class Traces(ompt_program.Program):
    def trace(self, *arguments, **variables):
        """The parsed trace, checked, and its barriers by thread."""
        self.run_program(arguments, HIERBAR_REPORT="perfetto,json", HIERBAR_OUTPUT="t", **variables)
        return self.read("t.trace.json")

    def read(self, name):
        text = (self.directory / name).read_text()
        self.assertEqual(check_trace.check(text), [])
        trace = json.loads(text)
        self.slices = collections.defaultdict(lambda: collections.defaultdict(list))
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                self.slices[event["pid"], event["tid"]][event["name"]].append(event)
        return trace

    def test_every_barrier_of_every_thread_is_there(self):
        trace = self.trace("imbalanced", 100, 20000)
        self.assertEqual(trace["otherData"]["processes"][0]["dropped"], 0)
        self.assertEqual(sorted(self.slices), [(1, 1), (1, 2)])
        for (_, tid), steps in self.slices.items():
            self.assertEqual(len(steps["barrier"]), 101)
            self.assertEqual(sum(event["cat"] == "explicit" for event in steps["barrier"]), 100)
            if is_ours():
                count = (
                    101 if tid == 1 else 100
                )  # at the end of a region the primary alone is told that all have come
                self.assertEqual(len(steps["exchange"]), count)
                self.assertEqual(len(steps["sync"]), 101 - count)
            else:
                self.assertEqual([len(steps[name]) for name in ("imbalance", "sync")], [101] * 2)
            # The steps fill the barrier: to the ns, since they meet at the same stamps.
            total = sum(
                event["dur"]
                for name, events in steps.items()
                if name not in ("barrier", "task")
                for event in events
            )
            self.assertAlmostEqual(
                total, sum(event["dur"] for event in steps["barrier"]), delta=0.5
            )

    def test_trees_have_gather_and_release(self):
        if not has_trees():
            self.skipTest("not on a machine with trees")
        self.trace("team", 50, 6)
        names = {
            tid: {name: len(events) for name, events in steps.items()}
            for (_, tid), steps in self.slices.items()
        }
        for tid in range(1, 7):
            # The end of the region for all but the primary, and barriers in which a primary that
            # is often late releases the others itself: not before 16 that were along the tree.
            aside = names[tid].get("imbalance", 0)
            if tid != 1:
                self.assertGreaterEqual(aside, 1)
            along = 51 - aside
            self.assertGreaterEqual(along, 16)
            leads = tid in (1, 4)
            self.assertEqual(names[tid].get("gather", 0), along if leads else 0)
            self.assertEqual(names[tid].get("exchange", 0), along if leads else 0)
            self.assertEqual(names[tid].get("release", 0), 0 if leads else along)

    def test_tasks_are_apart(self):
        self.trace("tasks", 100)
        self.assertGreater(sum(len(steps["task"]) for steps in self.slices.values()), 50)

    def test_regions_of_two_sizes(self):
        self.trace("regions", 100)
        self.assertEqual(len(self.slices[1, 1]["barrier"]), 100)

    def test_a_full_ring_keeps_the_last_and_counts_the_rest(self):
        full = self.trace("imbalanced", 100, 0)
        last = max(event["ts"] for event in self.slices[1, 1]["barrier"])
        self.assertGreater(last, 0)
        trace = self.trace("imbalanced", 100, 0, HIERBAR_TRACE_EVENTS="30")
        self.assertEqual([len(steps["barrier"]) for steps in self.slices.values()], [30, 30])
        self.assertEqual(trace["otherData"]["processes"][0]["dropped"], 2 * 71)
        self.assertEqual(self.slices[1, 1]["barrier"][-1]["cat"], "parallel end")
        self.assertEqual(
            json.loads((self.directory / "t.json").read_text())["trace"],
            {"kept": 60, "dropped": 142},
        )
        self.assertEqual(full["displayTimeUnit"], "ns")

    def test_sampling(self):
        self.trace("imbalanced", 640, 0, HIERBAR_SAMPLE="64")
        self.assertEqual([len(steps["barrier"]) for steps in self.slices.values()], [11, 11])

    def merge(self, *names):
        return subprocess.run(
            [options().hierbar.resolve(), "report", *names, "--perfetto", "all.json"],
            text=True,
            capture_output=True,
            cwd=self.directory,
        )

    def test_ranks_are_merged_on_one_time_line(self):
        last = 0
        for rank in "01":
            self.run_program(
                ["imbalanced", 50, 0],
                HIERBAR_REPORT="perfetto",
                HIERBAR_OUTPUT="r%r",
                PMI_RANK=rank,
            )
        merged = self.merge("r0.trace.json", "r1.trace.json")
        self.assertEqual((merged.returncode, merged.stderr), (0, ""))
        trace = self.read("all.json")
        names = [
            event["args"]["name"]
            for event in trace["traceEvents"]
            if event["name"] == "process_name"
        ]
        self.assertEqual([name.split(" @")[0] for name in names], ["rank 0", "rank 1"])
        self.assertEqual(sorted(self.slices), [(1, 1), (1, 2), (2, 1), (2, 2)])
        # They ran one after the other.
        for pid in (1, 2):
            begin = min(event["ts"] for tid in (1, 2) for event in self.slices[pid, tid]["barrier"])
            self.assertGreater(begin, last)
            last = max(event["ts"] for tid in (1, 2) for event in self.slices[pid, tid]["barrier"])

    def test_other_files_are_refused(self):
        self.run_program(["imbalanced", 10, 0], HIERBAR_REPORT="perfetto,json", HIERBAR_OUTPUT="t")
        for name in ["t.json", "missing.trace.json"]:
            refused = self.merge("t.trace.json", name)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(name, refused.stderr)
            self.assertIn("HIERBAR_REPORT=perfetto", refused.stderr)
            self.assertFalse((self.directory / "all.json").exists())


class Pictures(ompt_program.Program):
    """Of the machine, as lstopo draws them."""

    def colours(self, name):
        """The colours that lstopo gives boxes, by how often, and what it lists of the objects."""
        drawn = subprocess.run(
            ["lstopo-no-graphics", "--if", "xml", "--input", name, "--of", "svg", "-"],
            text=True,
            capture_output=True,
            cwd=self.directory,
            check=True,
            timeout=60,
        )
        boxes = collections.Counter(re.findall(r"fill=['\"]rgb\((\d+,\d+,\d+)\)", drawn.stdout))
        listed = subprocess.run(
            ["lstopo-no-graphics", "--if", "xml", "--input", name, "--of", "console", "-v"],
            text=True,
            capture_output=True,
            cwd=self.directory,
            check=True,
            timeout=60,
        ).stdout
        return boxes, listed

    def styles(self, name):
        """What the file itself says: type of object to its infos."""
        objects = collections.defaultdict(list)
        for element in xml.etree.ElementTree.parse(self.directory / name).iter("object"):
            infos = {
                info.get("name"): info.get("value")
                for info in element.findall("info")
                if info.get("name") == "lstopoStyle" or info.get("name").startswith("hierbar ")
            }
            if "lstopoStyle" in infos:
                objects[element.get("type")].append(infos)
        return objects

    def check_drawn(self, name, objects):
        boxes, listed = self.colours(name)
        for infos in objects:
            colour = re.match(r"Background=#(..)(..)(..);", infos["lstopoStyle"])
            rgb = ",".join(str(int(part, 16)) for part in colour.groups())
            self.assertIn(rgb, boxes, "lstopo does not draw this colour")
            self.assertRegex(listed, f'hierbar ns"? ?= ?"?{infos["hierbar ns"]}\\b')

    @unittest.skipUnless(
        shutil.which("lstopo-no-graphics"), "lstopo-no-graphics is not installed (hwloc-nox)"
    )
    def test_parts_of_the_machine_have_their_latency_and_colour(self):
        self.run_program(["team", 200, 6], HIERBAR_REPORT="lstopo,json", HIERBAR_OUTPUT="m")
        self.assertEqual(sorted(os.listdir(self.directory)), ["m.json", "m.lstopo.xml"])
        objects = self.styles("m.lstopo.xml")
        infos = [infos for of_type in objects.values() for infos in of_type]
        self.check_drawn("m.lstopo.xml", infos)
        if has_trees():
            self.assertEqual(
                sum("hierbar gather ns" in each and "hierbar release ns" in each for each in infos),
                2,
            )
            self.assertEqual(
                [
                    kind
                    for kind in objects
                    if any("hierbar exchange ns" in each for each in objects[kind])
                ],
                ["Machine"],
            )
        else:
            self.assertEqual(len(infos), 1, "threads that are not bound share one part")
        # The command draws the same of the JSON.
        again = subprocess.run(
            [
                options().hierbar.resolve(),
                "report",
                "m.json",
                "--lstopo",
                "again.xml",
                *self.machine(),
            ],
            text=True,
            capture_output=True,
            cwd=self.directory,
        )
        self.assertEqual((again.returncode, again.stdout, again.stderr), (0, "", ""))
        self.assertEqual(self.styles("again.xml"), objects)

    def machine(self):
        return [
            part
            for setting in options().env
            if setting.startswith("HIERBAR_TOPOLOGY=")
            for part in ("--topology", setting.split("=", 1)[1])
        ]

    def test_a_file_that_cannot_be_written_is_one_message(self):
        ending = self.run_program(
            ["imbalanced", 10, 0], HIERBAR_REPORT="lstopo", HIERBAR_OUTPUT="/no/such/place"
        )
        told = [line for line in ending.stderr.splitlines() if "/no/such/place.lstopo.xml" in line]
        self.assertEqual(len(told), 1, ending.stderr)


if __name__ == "__main__":
    sys.exit(ompt_program.main())
