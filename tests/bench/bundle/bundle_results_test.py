#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bundle_results_test.py BUNDLE_RESULTS: what of the parts goes into the bundle's file, and what it
says of the machine."""

import copy
import json
import os
import pathlib
import pwd
import socket
import subprocess
import sys
import tempfile
import unittest

USER, HOST = "zacharias", "nodezulu17"
LIBRARY = "lib/libomp.so"

program = None  # bundle_results


def openmp(home, bundle):
    """A report of omp_barrier_bench in which every text has names."""
    samples = [{"repetition": 0, "ns": [3.0, 1.0, 2.0], "ideal_ns": [1.0]}]
    summary = {"samples": 3, "median": 2.0, "minimum": 1.0, "maximum": 3.0}
    return {
        "format": "hierbar-omp-barrier-bench-1",
        "host": {
            "cpu": "a processor",
            "topology": "2 cpus",
            "kernel": f"Linux 6.1.7-{HOST} x86_64",
            "governor": "performance",
            "virtual": False,
            "allowed_cpus": [0, 1],
            "serial": "5C21-8816",
        },
        "build": {"compiler": "GNU 12", "revision": "1a2b3c", "program_flags": "-O2"},
        "settings": {"repetitions": 2, "json": f"{home}/out.json"},
        "run": {"seconds": 4.5, "repetitions": 1, "stopped_by": None, "cpu_share_of_others": 0.01},
        "configurations": [
            {
                "name": "hier",
                "explains": "this project",
                "library": f"{bundle}/{LIBRARY}",
                "version": f"LLVM 22, built by {USER} on {HOST}.example",
                "environment": {"LD_LIBRARY_PATH": f"{home}/lib", "KMP_BARRIER": "hier"},
                "unavailable": None,
                "program": f"{home}/worker",
            },
            {
                "name": "libgomp",
                "library": f"{home}/{USER}",
                "unavailable": f"cannot open '{home}/libgomp.so.1': not {USER}'s",
            },
        ],
        "groups": [
            {
                "construct": "barrier",
                "threads": 2,
                "disturbed": None,
                "blocks": [{"repetition": 0, "kept": True}],
                "series": [
                    {
                        "name": "hier",
                        "kind": "hier",
                        "failure": f"exit status 1: {home}/x: {USER}@{HOST}: no",
                        "summary": summary,
                        "samples": samples,
                    }
                ],
            }
        ],
        "targets": [{"note": f"{home}"}],
    }


class BundleResultsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.home = pathlib.Path(directory.name) / USER
        self.parts = self.home / "parts"
        self.parts.mkdir(parents=True)
        self.output = self.home / "results.json"
        self.bundle = program.parents[1]

    def run_program(self, *arguments):
        environment = os.environ | {"USER": USER, "HOME": str(self.home), "HOSTNAME": HOST}
        return subprocess.run(
            [program, *arguments],
            env=environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def write(self, name, part):
        (self.parts / name).write_text(json.dumps(part), encoding="utf-8")

    def join(self, *arguments, status=0):
        done = self.run_program("join", "--parts", self.parts, "--output", self.output, *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.text = self.output.read_text(encoding="utf-8")
        return json.loads(self.text)

    def test_no_name_and_no_path_is_in_the_file(self):
        self.write("openmp.json", openmp(self.home, self.bundle))
        self.write("topology.json", {"warnings": [f"{self.home}: {HOST}"], "units": []})
        self.join()
        private = [USER, HOST, str(self.home), str(self.bundle), "5C21-8816", "targets"]
        private += [socket.gethostname(), os.getcwd(), str(pathlib.Path.home())]
        private += [pwd.getpwuid(os.getuid()).pw_name] if os.getuid() else []
        for text in private:
            self.assertNotIn(text, self.text)

    def test_figures_and_versions_are(self):
        self.write("openmp.json", openmp(self.home, self.bundle))
        results = self.join("--load-before", "1.5")
        self.assertEqual(results["format"], "hierbar-bundle-1")
        self.assertEqual(results["ended"], "complete")
        self.assertEqual(results["load_average"]["before"], 1.5)
        self.assertGreaterEqual(results["load_average"]["after"], 0)
        self.assertRegex(results["bundle"]["version"], r"^\d+\.\d+\.\d+$")
        [ours, gnu] = results["openmp"]["configurations"]
        self.assertEqual(ours["library"], LIBRARY)
        self.assertEqual(ours["environment"], {"KMP_BARRIER": "hier"})
        self.assertEqual(ours["version"], "LLVM 22, built by ... on ....example")
        self.assertEqual(gnu["unavailable"], "cannot open '...': not ...'s")
        [series] = results["openmp"]["groups"][0]["series"]
        self.assertEqual(series["samples"], [{"repetition": 0, "ns": [2.0]}])
        self.assertEqual(series["summary"]["median"], 2.0)
        self.assertEqual(results["openmp"]["host"]["kernel"], "6.1.7")

    def test_the_machine_is_described(self):
        self.write("openmp.json", openmp(self.home, self.bundle))
        machine = self.join()["machine"]
        self.assertEqual(machine["cpus_allowed"], len(os.sched_getaffinity(0)))
        self.assertGreaterEqual(machine["cpus_online"], machine["cpus_allowed"])
        for node in machine["numa"]:
            self.assertEqual(node["distances"][node["node"]], 10)
        if pathlib.Path("/sys/devices/system/cpu/cpu0/cache/index0").exists():
            self.assertIn(1, [cache["level"] for cache in machine["caches"]])

    def test_what_was_not_measured_is_null(self):
        results = self.join("--interrupted", status=1)
        self.assertEqual(results["ended"], "interrupted")
        self.assertIsNone(results["openmp"])
        self.assertIsNone(results["latencies"])

    def test_a_part_that_was_cut_off_is_null(self):
        (self.parts / "openmp.json").write_text('{"format": "hier', encoding="utf-8")
        self.assertEqual(self.join(status=1)["ended"], "failed")

    def test_the_end_of_the_time_is_said(self):
        report = openmp(self.home, self.bundle)
        report["run"]["stopped_by"] = "time"
        self.write("openmp.json", report)
        self.assertEqual(self.join()["ended"], "time")

    def test_a_new_member_of_a_part_is_not_published(self):
        report = openmp(self.home, self.bundle)
        before = copy.deepcopy(report)
        for place in (report, report["host"], report["run"], report["groups"][0]):
            place["novelty"] = "quagga"
        self.assertNotEqual(report, before)
        self.write("openmp.json", report)
        self.join()
        self.assertNotIn("quagga", self.text)

    def test_plan_prints_sizes_that_all_have_a_core(self):
        planned = self.run_program("plan")
        if planned.returncode == 2:
            self.assertIn("at least two cores", planned.stderr)
            return
        sizes = [int(size) for size in planned.stdout.split(",")]
        self.assertEqual(sizes, sorted(set(sizes)))
        self.assertEqual(sizes[0], 2)
        self.assertLessEqual(sizes[-1], len(os.sched_getaffinity(0)))

    def test_plan_refuses_one_cpu_and_says_why(self):
        first = min(os.sched_getaffinity(0))
        planned = subprocess.run(
            [program, "plan"],
            capture_output=True,
            text=True,
            timeout=60,
            preexec_fn=lambda: os.sched_setaffinity(0, {first}),
        )
        self.assertEqual((planned.returncode, planned.stdout), (2, ""))
        self.assertIn("only 1 core of", planned.stderr)
        self.assertIn("at least two cores are needed", planned.stderr)


if __name__ == "__main__":
    program = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
