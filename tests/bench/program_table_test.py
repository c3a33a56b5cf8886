#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of bench/programs/program_table.py with programs of our own and a stand-in for
`hierbar compare`: what is measured, kept, installed and shown."""

import contextlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "bench/programs"
sys.path.insert(0, str(PROGRAMS))
import program_report  # noqa: E402
import program_rows  # noqa: E402
import program_settings  # noqa: E402
import program_table  # noqa: E402

# In place of the command. It notes each call, and answers with what the test has put into ANSWER.
STAND_IN = """#!/usr/bin/env python3
import json, os, pathlib, sys
root = pathlib.Path(__file__).resolve().parents[1]
arguments = sys.argv[1:]
with open(root / "calls", "a") as calls:
    words = [os.environ["OMP_NUM_THREADS"], *arguments[arguments.index("--") + 1:]]
    calls.write(" ".join(words) + chr(10))
answer = json.loads((root / "answer").read_text())
if "--runs" in arguments:
    answer["compare"]["rounds"] = int(arguments[arguments.index("--runs") + 1])
pathlib.Path(arguments[arguments.index("--json") + 1]).write_text(json.dumps(answer["compare"]))
print("hierbar compare: as told")
sys.exit(answer["status"])
"""


def compared(median=0.5, pairs=9, kind="none", failure=None, **output):
    way = {
        "name": "hierbar",
        "openmp": {"served": 2000},
        "mpi": {"served": 0},
        "not_active": None,
        "ratio": {"median": median, "lower": 0.4, "upper": 0.8, "pairs": pairs},
        "output": {"kind": kind, **output},
    }
    if median is None:
        way["ratio"] = None
    return {
        "rounds": pairs,
        "failure": failure,
        "signal": None,
        "ways": [{"name": "as it is"}, way],
    }


class Workplace(unittest.TestCase):
    """A folder of rows, and a build with the stand-in."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        (self.root / "bin").mkdir()
        (self.root / "lib").mkdir()
        (self.root / "bin/hierbar").write_text(STAND_IN)
        (self.root / "bin/hierbar").chmod(0o755)
        self.rows = self.root / "rows"
        self.write_row("sleep", 'title = "Sleep"\ncommand = ["sleep", "{threads}"]\n')
        self.answer(compared())

    def write_row(self, name, text, group="ours"):
        (self.rows / group).mkdir(parents=True, exist_ok=True)
        (self.rows / group / f"{name}.toml").write_text(text)

    def write_script(self, name, text, rest):
        """A file that has its row in a comment. Returns its path."""
        lines = "".join(f"# {line}\n" for line in text.splitlines())
        path = self.rows / "ours" / f"{name}.sh"
        path.write_text(f"# Ours.\n#\n# /// row {name}\n{lines}# ///\n{rest}")
        return path

    def read_row(self, name):
        return next(row for row in program_rows.read_rows(self.rows, self.root) if row.name == name)

    def answer(self, compare, status=0):
        (self.root / "answer").write_text(json.dumps({"compare": compare, "status": status}))

    def run_table(self, *arguments, cpus=2):
        """(exit status, stdout and stderr, the calls of the stand-in)"""
        (self.root / "calls").write_text("")
        said = io.StringIO()
        words = ["program_table.py", "--build-dir", str(self.root), *arguments]
        with (
            mock.patch.object(sys, "argv", words),
            mock.patch.object(program_rows, "ROWS", self.rows),
            mock.patch.object(program_table.os, "sched_getaffinity", lambda _: set(range(cpus))),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            try:
                status = program_table.main()
            except SystemExit as end:
                status = end.code
        return status or 0, said.getvalue(), (self.root / "calls").read_text().splitlines()


class MeasureTest(Workplace):
    def test_a_program_has_four_settings(self):
        status, said, calls = self.run_table("--time-limit", "1")
        self.assertEqual(status, 0, said)
        twice = f"{sys.executable} {PROGRAMS}/run_twice.py"
        self.assertEqual(calls, ["2 sleep 2", "4 sleep 4", "2 sleep 2", f"2 {twice} sleep 2"])
        self.assertIn("4 threads on 2 cpus", said)

    def test_an_mpi_program_has_other_sizes(self):
        self.write_row("mpi", 'title = "MPI"\nmpi = "mpich"\ncommand = ["true", "{threads}"]\n')
        with mock.patch.object(program_rows.shutil, "which", lambda name: f"/bin/{name}"):
            status, said, calls = self.run_table("--only", "mpi")
        self.assertEqual(status, 0, said)
        sizes = [tuple(call.split()[index] for index in (3, 0)) for call in calls]
        self.assertEqual(sizes, [("2", "1"), ("1", "2"), ("2", "2"), ("4", "1")])

    def test_open_mpi_may_use_all_cpus_for_threads_and_more_ranks_than_cpus(self):
        self.write_row("mpi", 'title = "MPI"\nmpi = "openmpi"\ncommand = ["app"]\n')
        row = self.read_row("mpi")
        self.assertNotIn("--bind-to", program_rows.launch(row, 2, 1, 2))
        self.assertIn("--bind-to", program_rows.launch(row, 1, 2, 2))
        self.assertIn("--oversubscribe", program_rows.launch(row, 4, 1, 2))

    def test_one_cpu_has_no_setting_twice(self):
        names = [setting.name for setting in program_settings.settings_of(1, "mpich")]
        self.assertEqual(names, ["1x1", "2x1"])

    def test_a_second_call_measures_only_what_is_missing(self):
        self.run_table("--setting", "alone", "--setting", "two")
        _, said, calls = self.run_table()
        self.assertEqual(len(calls), 2)
        self.assertIn("2 settings are kept from earlier", said)
        self.assertEqual(self.run_table()[2], [])
        self.assertEqual(len(self.run_table("--again")[2]), 4)

    def test_more_pairs_another_command_and_newer_libraries_are_measured_again(self):
        alone = ("--setting", "alone")
        self.run_table(*alone, "--pairs", "2")
        self.assertEqual(self.run_table(*alone, "--pairs", "1")[2], [])
        self.assertEqual(len(self.run_table(*alone, "--pairs", "3")[2]), 1)
        self.assertEqual(len(self.run_table(*alone)[2]), 1)
        self.assertEqual(self.run_table(*alone, "--pairs", "3")[2], [])
        self.assertEqual(len(self.run_table(*alone, cpus=3)[2]), 1)
        self.write_row("sleep", 'title = "Sleep"\ncommand = ["sleep", "{threads}.5"]\n')
        self.assertEqual(len(self.run_table(*alone)[2]), 1)
        library = self.root / "lib/libomp.so"
        library.touch()
        os.utime(library, (4e9, 4e9))
        self.assertEqual(len(self.run_table(*alone)[2]), 1)

    def assert_measured(self, times, what):
        self.assertEqual(len(self.run_table("--setting", "alone")[2]), times, what)

    def test_what_a_result_depends_on_is_measured_again_if_it_changes(self):
        (self.rows / "ours/sleep.toml").unlink()
        row = 'title = "Sleep"\ncommand = ["sleep", "{threads}", "{file}"]\n'
        files = {
            "library": self.root / "lib/libomp.so",
            "command": self.root / "bin/hierbar",
            "input": self.write_script("sleep", row, "input\n"),
            "profile": self.root / "config/hierbar/profile.json",
        }
        files["profile"].parent.mkdir(parents=True)
        with mock.patch.dict(os.environ, XDG_CONFIG_HOME=str(self.root / "config")):
            self.assert_measured(1, "the first time")
            for name, path in files.items():
                path.write_text((path.read_text() if path.exists() else "") + "# changed\n")
                self.assert_measured(1, name)
                os.utime(path, (4e9, 4e9))
                self.assert_measured(0, f"{name}, which is newer, but the same")
            more = 'environment = { SLEEP_DEEP = "1" }\n'
            self.write_script("sleep", row + more, "input\n# changed\n")
            self.assert_measured(1, "a variable of the row")
            for name, times in (("OLDPWD", 0), ("LD_BIND_NOW", 1), ("OMPI_MCA_btl", 1)):
                with mock.patch.dict(os.environ, {name: "other"}):
                    self.assert_measured(times, name)
            self.assert_measured(1, "the environment as it was before")

    def test_another_build_of_the_program_is_measured_again(self):
        program = self.root / "program"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        self.write_row("sleep", f'title = "Sleep"\ncommand = ["{program}"]\n')
        self.assert_measured(1, "the first time")
        self.assert_measured(0, "the same")
        program.write_text("#!/bin/sh\nexit 0\n")
        self.assert_measured(1, "another build")
        versions = lambda row: {"package": "2"}  # noqa: E731
        with mock.patch.object(program_rows, "versions_of", versions):
            self.assert_measured(1, "another version of a package")

    def test_the_lines_of_the_result_are_named_to_the_command(self):
        self.write_row("sleep", 'title = "Sleep"\ncommand = ["sleep"]\nresult = "^sum"\n')
        options = mock.Mock(hierbar="hierbar", pairs=1, time_limit=1, cpus=2)
        setting = program_settings.settings_of(2, "")[0]
        command = program_settings.compare_command(self.read_row("sleep"), setting, options)
        self.assertEqual(command[command.index("--result") + 1], "^sum")

    def test_what_failed_is_measured_again(self):
        failure = {"way": 1, "exit_status": 7, "signal": 0}
        self.answer(compared(failure=failure, median=None), status=1)
        status, said, _ = self.run_table("--setting", "alone")
        self.assertEqual(status, program_table.FAILED)
        self.assertIn("hierbar: failed with 7", said)
        self.answer(compared())
        status, _, calls = self.run_table("--setting", "alone")
        self.assertEqual((status, len(calls)), (0, 1))

    def test_a_busy_process_runs_beside(self):
        with program_settings.busy_process():
            pass  # and ends, or this test would not

    def test_input_is_made_once(self):
        self.write_row(
            "input",
            'title = "Input"\ncommand = ["cat", "{work}/input"]\n'
            'prepare = [["sh", "-c", "echo line >>input"]]\n',
        )
        row = self.read_row("input")
        program_rows.prepare(row)
        program_rows.prepare(row)
        self.assertEqual((row.work / "input").read_text(), "line\n")

    def test_input_is_made_again_from_a_changed_file(self):
        text = 'title = "Input"\ncommand = ["cat", "{work}/input"]\n'
        for number in ("one", "two"):
            self.write_script("input", text + 'prepare = [["cp", "{file}", "input"]]\n', number)
            row = self.read_row("input")
            program_rows.prepare(row)
            self.assertTrue((row.work / "input").read_text().endswith(f"# ///\n{number}"))

    def test_a_file_may_have_several_rows_and_must_have_one(self):
        path = self.write_script("one", 'title = "One"\ncommand = ["{file}", "# x"]', "\n")
        path.write_text(path.read_text() + path.read_text().replace("row one", "row two"))
        for name in ("one", "two"):
            row = self.read_row(name)
            self.assertEqual((row.title, row.filled(row.command)), ("One", [str(path), "# x"]))
        path.write_text("# /// row one\n# title = 1\n")
        self.assertIn("it has no row", self.run_table()[1])


class MissingTest(Workplace):
    ROW = 'title = "Missing"\ncommand = ["no-such-command"]\ndebian = ["no-package"]\n'

    def test_what_is_missing_is_listed_and_not_installed(self):
        self.write_row("missing", self.ROW)
        with mock.patch.object(program_rows, "install") as install:
            status, said, calls = self.run_table("--only", "missing")
        self.assertEqual((status, calls), (program_table.SKIPPED, []))
        self.assertFalse(install.called)
        self.assertIn("apt-get install --no-install-recommends no-package", said)
        self.assertTrue(said.splitlines()[-1].startswith("skipped: "))
        self.assertIn("Missing: missing", self.run_table("--list")[1])

    def test_versions_are_in_the_order_of_the_row(self):
        self.write_row("two", 'title = "T"\ncommand = ["two"]\ndebian = ["two", "liba", "none"]\n')
        listing = mock.Mock(stdout="liba:amd64\t1-1\ntwo\t2-1\n")
        with (
            mock.patch.object(program_rows.shutil, "which", lambda name: f"/bin/{name}"),
            mock.patch.object(program_rows.subprocess, "run", lambda *_, **__: listing),
        ):
            versions = program_rows.versions_of(self.read_row("two"))
        self.assertEqual(list(versions.items()), [("two", "2-1"), ("liba", "1-1")])

    def test_a_program_of_no_package_says_where_it_comes_from(self):
        self.write_row(
            "missing", 'title = "M"\ncommand = ["no-such"]\norigin = "App 1.0 (its page)"\n'
        )
        said = self.run_table("--only", "missing", "--install")[1]
        self.assertIn("missing: missing: App 1.0 (its page), in PATH", said)

    def test_wheels_are_here_once_all_of_them_are_installed(self):
        wheels = 'title = "Wheels"\ncommand = ["{python}"]\nwheels = ["one==1", "two==2"]\n'
        self.write_row("wheels", wheels)
        row = self.read_row("wheels")
        self.assertFalse(program_rows.is_here(row))
        row.python.parent.mkdir(parents=True)
        row.python.symlink_to(sys.executable)
        (row.venv / "installed").write_text("one==1\ntwo==2")
        self.assertTrue(program_rows.is_here(row))
        self.assertEqual(program_rows.versions_of(row), {"one": "1", "two": "2"})
        self.write_row("same", wheels)
        self.assertTrue(program_rows.is_here(self.read_row("same")))
        self.write_row("wheels", wheels.replace("==2", "==3"))
        self.assertFalse(program_rows.is_here(self.read_row("wheels")))

    def test_wrong_arguments_and_rows_are_named(self):
        for words, expected in (
            (("--only", "none"), "no program matches; there are sleep"),
            (("--group", "none"), "--group 'none': allowed: ours"),
            (("--pairs", "0"), "--pairs '0': must be at least 1"),
            (("--setting", "none"), "--setting 'none'"),
            (("--hierbar", "/none"), "no command '/none'"),
        ):
            status, said, _ = self.run_table(*words)
            self.assertEqual(status, 2)
            self.assertIn(expected, said)
        self.write_row("wrong", 'title = "Wrong"\ncommand = []\nmpi = "other"\n')
        self.assertIn("allowed: mpich or openmpi", self.run_table()[1])
        self.write_row("wrong", 'title = "Wrong"\ncommands = []\n')
        self.assertIn("commands", self.run_table()[1])


class ReportTest(Workplace):
    def cell(self, compare, **row):
        keys = "".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items())
        self.write_row("sleep", 'title = "Sleep"\ncommand = ["sleep"]\n' + keys)
        setting = program_settings.settings_of(2, "")[0]
        return program_report.cell_of(
            {"compare": compare, "exit_status": 0}, self.read_row("sleep"), setting
        )

    def test_a_loss_is_marked_and_counted(self):
        self.answer(compared(median=1.03))
        status, said, _ = self.run_table("--check")
        self.assertEqual(status, program_table.FAILED)
        self.assertIn("**1.03 (0.40 to 0.80) loss**", said)
        # Beside a busy process it is none.
        self.assertIn("3 losses", said)
        self.assertEqual(self.run_table()[0], 0)

    def test_a_rate_becomes_a_time(self):
        cell = self.cell(compared(median=0.5), rate=True)
        self.assertEqual((cell.median, cell.low, cell.high), (2, 1 / 0.8, 1 / 0.4))

    def test_few_pairs_and_other_results_are_marked(self):
        self.assertTrue(program_report.text_of(self.cell(compared(pairs=2))).endswith(" ?"))
        differs = compared(kind="numbers", lines=1, largest=1e-7)
        self.assertTrue(program_report.text_of(self.cell(differs)).endswith(" !"))
        self.assertEqual(self.cell(differs, tolerance=1e-6).differs, "")
        self.assertEqual(self.cell(compared(kind="lines"), tolerance=1e-6).differs, "lines")

    def test_the_mean_is_geometric(self):
        self.write_row("other", 'title = "Other"\ncommand = ["sleep", "9"]\n')
        self.answer(compared(median=0.25))
        self.run_table("--only", "other", "--setting", "alone")
        self.answer(compared(median=1))
        path = self.root / "table.json"
        self.run_table("--setting", "alone", "--json", str(path))
        table = json.loads(path.read_text())["tables"][0]
        self.assertEqual(table["geometric_means"]["alone"], 0.5)

    def test_a_program_that_is_not_served_has_a_note(self):
        compare = compared(median=None, pairs=0)
        compare["ways"][1]["not_active"] = {"code": "no-openmp", "words": "no OpenMP"}
        self.answer(compare, status=program_settings.NOT_ACTIVE)
        status, said, _ = self.run_table("--setting", "alone")
        self.assertEqual(status, 0)
        self.assertIn("- Sleep, alone: not active: no OpenMP", said)


class RunTwiceTest(Workplace):
    def run_twice(self, script):
        return subprocess.run(
            [sys.executable, "-B", PROGRAMS / "run_twice.py", "sh", "-c", script],
            cwd=self.root,
            capture_output=True,
            text=True,
        )

    def test_the_slower_copy_is_last(self):
        # The first copy waits until the second has ended and somebody has waited for it.
        script = (
            "case $PWD in *copy.0) until [ -s ../pid ]; do :; done; "
            "while kill -0 $(cat ../pid) 2>/dev/null; do :; done; echo slow;; "
            "*) echo fast; echo $$ >../pid;; esac"
        )
        result = self.run_twice(script)
        self.assertEqual((result.returncode, result.stdout), (0, "fast\nslow\n"))

    def test_a_failure_is_its_status(self):
        self.assertEqual(self.run_twice("case $PWD in *copy.1) exit 7;; esac").returncode, 7)
        self.assertEqual(self.run_twice("kill -TERM $$").returncode, 128 + 15)

    def interrupt(self, script, number):
        """Sends the signal once both copies have begun, and waits until no process of theirs is
        left: all have the FIFO open for writing. Returns the exit status."""
        fifo = self.root / "fifo"
        os.mkfifo(fifo)
        code = "import run_twice, sys; run_twice.GRACE_S = 0.2; sys.exit(run_twice.main())"
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", code, "sh", "-c", f"exec 9>../fifo; {script}"],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(PROGRAMS)},
        )
        with open(fifo) as reader:
            begun = [reader.readline() for _ in range(2)]
            process.send_signal(number)
            rest = reader.read()
        self.assertEqual((begun, rest), (["begun\n"] * 2, ""))
        return process.wait()

    def test_an_interrupted_one_ends_its_copies(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                status = self.interrupt("echo begun >&9; exec sleep 600", number)
                self.assertEqual(status, 128 + number)
                (self.root / "fifo").unlink()

    def test_a_copy_that_is_a_shell_ends_with_its_children(self):
        status = self.interrupt("sleep 600 & echo begun >&9; wait", signal.SIGTERM)
        self.assertEqual(status, 128 + 15)

    def test_a_copy_that_does_not_end_is_killed(self):
        status = self.interrupt("trap '' TERM; echo begun >&9; sleep 600; :", signal.SIGTERM)
        self.assertEqual(status, 128 + 15)


class RowsTest(unittest.TestCase):
    """The rows of the repository."""

    def test_a_group_takes_at_most_an_hour(self):
        rows = program_rows.read_rows(program_rows.ROWS, pathlib.Path("/none"))
        for group in {row.group for row in rows}:
            # Four settings of two minutes each, with the warm-up.
            self.assertLessEqual(sum(row.group == group for row in rows), 6, group)

    def test_the_page_lists_each(self):
        page = (PROGRAMS.parents[1] / "docs/results/programs.md").read_text()
        listed = re.findall(r"^\| (\w+) \| (.*) \| (OpenMP|MPI) \|$", page, re.MULTILINE)
        wanted = {}
        for row in program_rows.read_rows(program_rows.ROWS, pathlib.Path("/none")):
            wanted.setdefault((row.group, "MPI" if row.mpi else "OpenMP"), []).append(row.title)
        found = {(group, kind): titles for group, titles, kind in listed}
        self.assertEqual(found, {key: "; ".join(sorted(titles)) for key, titles in wanted.items()})

    def test_each_says_how_to_get_it_by_a_fixed_version(self):
        for row in program_rows.read_rows(program_rows.ROWS, pathlib.Path("/none")):
            self.assertTrue(row.debian or row.wheels or row.origin, row.name)
            if row.origin:
                self.assertRegex(row.origin, r" [0-9.]+ \(", row.name)
            self.assertTrue(all("==" in wheel for wheel in row.wheels), row.name)

    def test_those_that_share_an_environment_want_the_same_versions(self):
        wanted = {}
        for row in program_rows.read_rows(program_rows.ROWS, pathlib.Path("/none")):
            self.assertEqual(wanted.setdefault(row.venv, row.wheels), row.wheels, row.name)


if __name__ == "__main__":
    unittest.main()
