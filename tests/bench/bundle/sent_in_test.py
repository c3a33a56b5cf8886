#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""sent_in_test.py [HIERBAR BARRIER_MODEL]: tests of bench/common/report/sent_in.py and
machine_model.py. With the programs, what is written for barrier_model is read by them too."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPORT = pathlib.Path(__file__).resolve().parents[3] / "bench/common/report"
sys.path.insert(0, str(REPORT))
import machine_model  # noqa: E402

hierbar = barrier_model = None

# Predicts 50 ns a thread for our barrier, and keeps what it was called with.
FAKE_MODEL = """\
#!{python}
import json, pathlib, sys
words = sys.argv[1:]
here = pathlib.Path(__file__).parent
with open(here / "calls", "a") as file:
    file.write(json.dumps([words[0], pathlib.Path(words[words.index("--topology") + 1]).read_text(),
        pathlib.Path(words[words.index("--c2c") + 1]).read_text() if "--c2c" in words else None]))
    file.write("\\n")
if words[0] == "region":
    sys.exit("deadlock")
figures = dict(median_ns=50.0 * int(words[4]), least_ns=40.0, most_ns=60.0)
print(json.dumps(dict(rows=[dict(name="hier", period=figures, isolated=figures)])))
"""


def series(name, kind, *ns):
    return {
        "name": name,
        "kind": kind,
        "failure": None,
        "summary": {"median": sorted(ns)[len(ns) // 2]},
        "sync_share": None,
        "samples": [{"repetition": i, "ns": [one]} for i, one in enumerate(ns)],
    }


def group(construct, threads, *entries):
    return {
        "construct": construct,
        "threads": threads,
        "disturbed": None,
        "blocks": [{"repetition": i, "kept": True} for i in range(2)],
        "series": list(entries),
    }


def unit(labels, cpus, parent):
    return {"labels": labels.split(), "active": [], "cpus": cpus, "parent": parent, "depth": 0}


def results():
    """A machine of two packages with two cores each; cpus 1 and 2 are neighbours' numbers."""
    units = [unit("machine", "0-3", None)]
    units += [unit("package numa l3", "0,2", 0), unit("core", "0", 1), unit("core", "2", 1)]
    units += [unit("package numa l3", "1,3", 0), unit("core", "1", 4), unit("core", "3", 4)]
    pair = {"cpus": [0, 2], "cas_ns": {"median": 30.0}}
    far = {"cpus": [0, 1], "cas_ns": {"median": 90.0}}
    ours = (series("hier", "hier", 100.0, 110.0), series("hyper", "stock", 200.0, 220.0))
    return {
        "format": "hierbar-bundle-1",
        "bundle": {"version": "0.1.0", "revision": "1a2b3c"},
        "ended": "complete",
        "machine": {
            "cpus_online": 4,
            "cpus_allowed": 4,
            "cpu_quota": None,
            "topology": {"allowed": "0-3", "units": units},
        },
        "latencies": {"classes": [{"pairs": [pair]}, {"pairs": [far]}]},
        "openmp": {
            "format": "hierbar-omp-barrier-bench-1",
            "host": {
                "cpu": "a processor",
                "topology": "2 packages",
                "virtual": False,
                "allowed_cpus": [0, 1, 2, 3],
            },
            "run": {"repetitions": 2, "seconds": 9.0, "cpu_share_of_others": 0.0},
            "groups": [
                group("barrier", 4, *ours),
                group("barrier", 2, *ours, series("floor", "floor", 40.0, 42.0)),
                group("parallel", 2, *ours),
                group("barrier", 8, *ours),
            ],
        },
    }


class ScriptTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.model = self.directory / "model"
        self.model.write_text(FAKE_MODEL.format(python=sys.executable), encoding="utf-8")
        self.model.chmod(0o755)

    def write(self, document, name="results.json"):
        path = self.directory / name
        text = document if isinstance(document, str) else json.dumps(document)
        path.write_text(text, encoding="utf-8")
        return path

    def run_script(self, *arguments):
        return subprocess.run(
            [sys.executable, "-B", REPORT / "sent_in.py", "--model", self.model, *arguments],
            capture_output=True,
            text=True,
            timeout=240,
        )

    def tables(self, document):
        output = self.directory / "tables.json"
        done = self.run_script(self.write(document), "--json", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.printed = done.stdout
        [machine] = json.loads(output.read_text(encoding="utf-8"))["machines"]
        return machine

    def refused(self, document, *texts):
        done = self.run_script(self.write(document))
        self.assertEqual(done.returncode, 2, done.stdout)
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertNotIn("Traceback", done.stderr)


class TablesTest(ScriptTest):
    def test_each_size_has_a_row_beside_the_best_other(self):
        rows = self.tables(results())["rows"]
        titles = [row["title"] for row in rows]
        sizes = ["barrier, 2 threads", "barrier, 4 threads", "barrier, 8 threads"]
        self.assertEqual(titles, [*sizes, "region, 2 threads"])
        self.assertEqual((rows[0]["peer"], rows[0]["ratio"]), ("hyper", 0.5))
        self.assertEqual((rows[0]["floor_ns"], rows[1]["floor_ns"]), (42.0, None))
        for title in titles:
            self.assertIn(title, self.printed)

    def test_a_prediction_is_beside_what_was_measured(self):
        machine = self.tables(results())
        [two, four] = machine["predictions"]
        self.assertEqual((two["measured_ns"], two["predicted_ns"], two["ratio"]), (110, 100, 1.1))
        self.assertEqual((four["predicted_ns"], four["ratio"]), (200, 0.55))
        self.assertRegex(self.printed, r"barrier, 4 threads +hier +110 ns +200 ns .* 0\.55")

    def test_more_threads_than_cores_are_not_predicted(self):
        titles = [row["title"] for row in self.tables(results())["predictions"]]
        self.assertNotIn("barrier, 8 threads", titles)

    def test_a_model_that_fails_is_said_and_the_rest_is_shown(self):
        self.assertEqual(
            self.tables(results())["model_problems"], ["region, 2 threads: deadlock"]
        )
        self.assertIn("no prediction: region, 2 threads: deadlock", self.printed)

    def test_the_model_gets_the_tree_and_the_latencies(self):
        self.tables(results())
        calls = (self.directory / "calls").read_text(encoding="utf-8").splitlines()
        command, tree, matrix = json.loads(calls[0])
        self.assertEqual((command, tree.count('type="Package"')), ("compare", 2))
        # By the tree, cpus 0 and 2 come first, and cpu 1 is the third.
        self.assertEqual(matrix, ",\n30.0\n90.0,\n")

    def test_what_was_not_as_it_should_be_is_said(self):
        document = results()
        document["ended"] = "interrupted"
        document["latencies"] = None
        document["machine"] |= {"cpus_online": 64, "cpu_quota": 3}
        self.tables(document)
        for text in (
            "not complete: ended by interrupted",
            "only 4 of 64 cpus",
            "3 cpus' worth",
            "without latencies",
        ):
            self.assertIn(text, self.printed)
        calls = (self.directory / "calls").read_text(encoding="utf-8").splitlines()
        self.assertIsNone(json.loads(calls[0])[2])


    def test_what_a_terminal_would_obey_is_not_printed(self):
        document = results()
        document["openmp"]["host"]["cpu"] = "a \x1b[2Jprocessor\n\u202e"
        self.assertEqual(self.tables(document)["machine"], "a ?[2Jprocessor??, 2 packages")
        self.assertTrue(all(line.isprintable() for line in self.printed.split("\n")))


class RefusalTest(ScriptTest):
    def test_of_files_that_are_not_of_the_bundle(self):
        self.refused("{}", "is no file of the bench bundle: format None")
        self.refused("[1]", "is no file of the bench bundle")
        self.refused({"format": "hierbar-summary-1"}, "'hierbar-summary-1', not hierbar-bundle-1")

    def test_of_what_was_cut_off(self):
        self.refused(json.dumps(results())[:900], "is no JSON, or not all of it")

    def test_of_an_old_bundle(self):
        self.refused({"bundle": "hierbar-bench", "barriers": {}}, "without schema numbers")

    def test_of_another_schema(self):
        self.refused({"format": "hierbar-bundle-2"}, "has the schema 2", "take a newer hierbar")
        self.refused({"format": "hierbar-bundle-0"}, "measure again with a new bundle")

    def test_of_a_file_without_figures(self):
        self.refused(results() | {"openmp": None, "ended": "failed"}, "has no figures", "failed")

    def test_of_a_broken_file(self):
        for member in ("cpus_online", "topology"):
            document = results()
            del document["machine"][member]
            self.refused(document, member)
        document = results()
        document["openmp"]["groups"][0]["series"] = 7
        self.refused(document, "is broken")

    def test_of_figures_that_are_none(self):
        for place, value in (("median", []), ("median", {}), ("share", "much"), ("share", [None])):
            document = results()
            if place == "share":
                document["openmp"]["run"]["cpu_share_of_others"] = value
            else:
                document["openmp"]["groups"][0]["series"][0]["summary"]["median"] = value
            self.refused(document, "is broken")
        document = results()
        document["openmp"]["groups"][0]["series"][0]["samples"][0]["ns"] = [0]
        self.refused(document, "is broken: ZeroDivisionError")
        self.refused(results() | {"machine": "mine"}, "has no topology of the machine")

    def test_of_numbers_that_json_does_not_have(self):
        for number in ("NaN", "-Infinity", "1e999"):
            text = json.dumps(results()).replace("9.0", number, 1)
            self.refused(text, f"{number} is no number")

    def test_of_what_takes_all_memory(self):
        self.refused("[" * 100_000, "is nested too deeply")
        for index, member, value in ((1, "cpus", "0-99999999999"), (1, "parent", 1)):
            document = results()
            document["machine"]["topology"]["units"][index][member] = value
            self.refused(document, "is broken: ValueError")
        document = results()
        deep = [unit("machine", "0-3", i - 1 if i else None) for i in range(5000)]
        deep += [unit("core", str(cpu), 4999) for cpu in range(4)]
        document["machine"]["topology"]["units"] = deep
        self.refused(document, "its tree is too deep")

    def test_of_one_file_shows_the_others(self):
        done = self.run_script(self.directory / "none.json", self.write(results()))
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.json: No such file", done.stderr)
        self.assertIn("barrier, 2 threads", done.stdout)


class PlotTest(ScriptTest):
    def setUp(self):
        super().setUp()
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("no matplotlib (Debian: python3-matplotlib)")

    def test_is_drawn_for_each_file_and_both_kinds_of_pages(self):
        files = [self.write(results(), name) for name in ("one.json", "two.json")]
        done = self.run_script(*files, "--no-model", "--plot", self.directory / "plot")
        self.assertEqual(done.returncode, 0, done.stderr)
        for number in (1, 2):
            for theme in ("light", "dark"):
                picture = self.directory / f"plot-{number}-{theme}.svg"
                self.assertIn(">barrier, 4 threads<", picture.read_text(encoding="utf-8"))


class TreeTest(unittest.TestCase):
    """The XML has the units of the original."""

    SHAPES = (
        "pack:2 [numa] l3:8 core:8 pu:2",
        "pack:2 l3:2 [numa] l2:2 core:2 pu:1",
        "pack:1 core:4 pu:1",
        "pack:2 [numa] group:2 l3:4 core:4 pu:1",
        "[numa] pack:4 die:2 l3:2 core:8 pu:1",
        "pack:2 die:2 [numa] l3:1 core:4 pu:2",
    )

    def setUp(self):
        if hierbar is None:
            self.skipTest("needs the command")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = pathlib.Path(directory.name) / "machine.xml"

    def topology(self, description):
        shown = subprocess.run(
            [hierbar, "topo", "--json", "--topology", description], capture_output=True, text=True
        )
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return json.loads(shown.stdout)

    def again(self, topology):
        self.path.write_text(machine_model.Tree(topology).xml(), encoding="utf-8")
        return self.topology(str(self.path))

    def units(self, topology):
        return [(sorted(one["labels"]), one["cpus"]) for one in topology["units"]]

    def test_of_a_whole_machine(self):
        for shape in self.SHAPES:
            topology = self.topology(shape)
            found = self.again(topology)
            self.assertEqual(self.units(found), self.units(topology), shape)
            self.assertEqual(found["warnings"], [])

    def test_of_the_allowed_part(self):
        topology = self.topology(self.SHAPES[0])
        topology["allowed"] = "64-127,200-210"
        found = self.again(topology)
        self.assertEqual((found["num_cpus"], found["num_cores"]), (75, 38))
        packages = [one["cpus"] for one in found["units"] if "package" in one["labels"]]
        self.assertEqual(packages, ["0-63", "64-74"])

    def test_is_read_by_the_model(self):
        document = {"machine": {"topology": self.topology(self.SHAPES[1])}}
        classes = [{"pairs": [{"cpus": [0, 5], "cas_ns": {"median": 40.0}}]}]
        model = machine_model.Model(barrier_model, document | {"latencies": {"classes": classes}})
        predicted = model.predict("barrier", "hier", 16)
        self.assertEqual(model.problems, [])
        self.assertLess(100, predicted["median_ns"])
        self.assertLess(predicted["median_ns"], 10000)


if __name__ == "__main__":
    if len(sys.argv) > 2 and not sys.argv[1].startswith("-"):
        hierbar, barrier_model = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
