#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests how the programs of OpenMP_VV are found, compiled and judged, on a suite made here."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_ompvv

COMMAND = pathlib.Path(__file__).resolve().with_name("check_ompvv.py")


@unittest.skipUnless(shutil.which("gcc"), "no gcc")
class Suite(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.source = pathlib.Path(directory.name) / "source"
        self.work = pathlib.Path(directory.name) / "work"
        self.work.mkdir()
        (self.source / "ompvv").mkdir(parents=True)
        (self.source / "ompvv" / "ompvv.h").write_text("#define STATUS 1\n")
        self.programs = check_ompvv.Programs(
            self.source, self.work, {".c": "gcc"}, check_ompvv.WARNINGS["gcc"]
        )

    def write(self, name, body):
        path = self.source / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#include <stdlib.h>\n#include "ompvv.h"\nint main(void) {{ {body} }}\n')

    def code_of(self, body, settings=()):
        self.write("t.c", body)
        self.assertTrue(self.programs.compile("t.c"))
        suite = check_ompvv.OmpvvSuite(
            "suite",
            "1",
            self.work,
            self.programs,
            ["t.c"],
            None,
            argparse.Namespace(jobs=1, timeout=5),
        )
        return suite.run(list(settings), quiet=True)["t.c"]

    def test_the_exit_status_is_the_verdict(self):
        self.assertEqual(self.code_of("return 0;"), "PASS")

    def test_any_other_status_is_a_failure(self):
        self.assertEqual(self.code_of("return STATUS;"), "FAIL")

    def test_a_signal_is_a_failure(self):
        self.assertEqual(self.code_of("abort();"), "FAIL")

    def test_a_program_may_say_that_there_is_nothing_to_test(self):
        self.assertEqual(self.code_of("return 101;"), "SKIPPED")

    def test_a_program_that_does_not_end_is_ended(self):
        self.assertEqual(self.code_of("for (;;) abs(0);"), "TIMEOUT")

    def test_settings_reach_the_program(self):
        self.assertEqual(self.code_of('return getenv("OMP_X") == NULL;', ["OMP_X=1"]), "PASS")

    def test_a_program_that_does_not_compile_leaves_the_reason(self):
        self.write("4.5/bad.c", "return nothing;")
        self.assertFalse(self.programs.compile("4.5/bad.c"))
        complaint = self.programs.path("4.5/bad.c").with_suffix(".txt")
        self.assertIn("nothing", complaint.read_text())

    @unittest.skipUnless(shutil.which("clang-19"), "no clang-19")
    def test_a_program_of_which_clang_ignores_a_clause_does_not_compile(self):
        programs = check_ompvv.Programs(
            self.source, self.work, {".c": "clang-19"}, check_ompvv.WARNINGS["clang"]
        )
        pragma = "int unused;\n#pragma omp task {}\n;"
        self.write("4.5/known.c", pragma.format("untied"))
        self.write("6.0/unknown.c", pragma.format("no_such_clause"))
        self.assertTrue(programs.compile("4.5/known.c"))
        self.assertFalse(programs.compile("6.0/unknown.c"))

    def test_sources_are_those_of_the_compilers_that_are_there(self):
        for name in ("4.5/a.c", "5.0/a.c", "5.0/b.cpp", "5.0/c.F90"):
            self.write(name, "")
        self.assertEqual(self.programs.sources(""), ["4.5/a.c", "5.0/a.c"])
        self.assertEqual(self.programs.sources("^5"), ["5.0/a.c"])


class Command(unittest.TestCase):
    def run_command(self, ompvv):
        environment = {**os.environ, "OMPVV": ompvv}
        return subprocess.run(
            [sys.executable, "-B", COMMAND], env=environment, capture_output=True, text=True
        )

    def test_without_a_suite_it_says_so_and_skips(self):
        result = self.run_command("")
        self.assertEqual(result.returncode, 77)
        self.assertIn("skipped: no OpenMP_VV suite", result.stdout)

    def test_a_wrong_directory_is_an_error(self):
        result = self.run_command("/nonexistent")
        self.assertEqual(result.returncode, 2)
        self.assertIn("OMPVV: '/nonexistent' has no ompvv/ompvv.h", result.stderr)


if __name__ == "__main__":
    unittest.main()
