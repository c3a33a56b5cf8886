#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests how GCC's tests of libgomp are read, compiled, run and judged, on tests made here."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "suites"))
import directives
import gcc_suite
from compare import CannotRun
from gcc_suite import GccSuite
from programs import Programs


class Directives(unittest.TestCase):
    def read(self, text, language="c"):
        return directives.read(text, language)

    def test_without_any_it_is_a_program_to_run(self):
        test = self.read("int main(void) { return 0; }")
        self.assertEqual((test.action, test.options, test.missing), ("run", ["-O2"], ""))

    def test_words_are_those_of_tcl(self):
        self.assertEqual(directives.split_words(r'a {b {c d}} "e f\n"'), ["a", "b {c d}", "e f\n"])

    def test_options_replace_the_default_and_are_added_to(self):
        test = self.read(
            '/* { dg-options "-O0 -g" } */\n/* { dg-additional-options "-std=c99" { target c } } */'
        )
        self.assertEqual(test.options, ["-O0", "-g", "-std=c99"])

    def test_a_selector_limits_a_directive_to_a_language(self):
        test = self.read('// { dg-additional-options "-std=c99" { target c } }', "c++")
        self.assertEqual(test.options, ["-O2"])

    def test_selectors(self):
        for expression, value in (
            ("lp64", True),
            ("nonsense", False),
            ("! nonsense", True),
            ("lp64 && nonsense", False),
            ("nonsense || lp64", True),
            ("{ lp64 && { ! lp64 } }", False),
            ("*-*-*", True),
            ("nonsense *-*-linux*", True),
            ("{ ! *-*-* }", False),
        ):
            self.assertEqual(directives.holds(expression, "c"), value, expression)

    def test_a_test_of_another_machine_is_not_run(self):
        self.assertEqual(self.read("/* { dg-do run { target offload_device } } */").action, "none")

    def test_what_is_only_compiled_is_not_run(self):
        self.assertEqual(self.read("! { dg-do compile }", "fortran").action, "compile")

    def test_a_missing_property_is_the_reason(self):
        self.assertEqual(
            self.read("/* { dg-require-effective-target offload_device } */").missing,
            "needs offload_device",
        )

    def test_a_test_may_be_skipped_with_some_options_only(self):
        text = '! { dg-skip-if "why" { ! run_expensive_tests } { "*" } { "-O2" } }'
        self.assertEqual(self.read(text).missing, "")
        self.assertEqual(self.read('/* { dg-skip-if "why" { *-*-* } } */').missing, "why")

    def test_environment_sources_and_failure(self):
        test = self.read(
            '/* { dg-set-target-env-var OMP_PLACES "{6,7}:4:-2,!{2,3}" } */\n'
            '/* { dg-additional-sources "a.c b.c" } */\n/* { dg-shouldfail "" } */'
        )
        self.assertEqual(test.environment, {"OMP_PLACES": "{6,7}:4:-2,!{2,3}"})
        self.assertEqual((test.sources, test.should_fail), (["a.c", "b.c"], True))

    def test_a_brace_that_is_not_closed_is_an_error(self):
        with self.assertRaisesRegex(directives.BadDirective, "no closing brace"):
            directives.split_words("{a")


@unittest.skipUnless(shutil.which("gcc"), "no gcc")
class Suite(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.source = pathlib.Path(directory.name) / "source"
        self.work = pathlib.Path(directory.name) / "work"

    def write(self, body, name="libgomp.c/t.c", head=""):
        path = self.source / "testsuite" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"{head}\n#include <stdio.h>\n#include <stdlib.h>\nint main(void) {{ {body} }}\n"
        )

    def code_of(self, body, head="", settings=(), timeout=20):
        self.write(body, head=head)
        programs = Programs(self.source, self.work)
        self.assertTrue(programs.compile("libgomp.c/t.c"))
        self.suite = GccSuite(
            "suite", "1", self.work, programs, ["libgomp.c/t.c"], None, jobs=1, timeout=timeout
        )
        return self.suite.run(list(settings), quiet=True)["libgomp.c/t.c"]

    def test_the_exit_status_is_the_verdict(self):
        self.assertEqual(self.code_of("return 0;"), "PASS")

    def test_a_failure_is_described(self):
        self.assertEqual(self.code_of('puts("last words"); fflush(stdout); abort();'), "FAIL")
        self.assertEqual(self.suite.failures, {"libgomp.c/t.c": "signal SIGABRT: last words"})

    def test_a_program_may_have_to_fail(self):
        head = '/* { dg-shouldfail "" } */'
        self.assertEqual(self.code_of("return 1;", head), "PASS")

    def test_a_program_that_has_to_fail_must_not_end_well(self):
        self.assertEqual(self.code_of("return 0;", '/* { dg-shouldfail "" } */'), "FAIL")

    def test_output_is_looked_at(self):
        head = r'/* { dg-output "one(\n|\r)" } */' + "\n" + '/* { dg-output "two" } */'
        self.assertEqual(self.code_of('puts("one"); puts("two"); return 0;', head), "PASS")

    def test_other_output_is_a_failure(self):
        self.assertEqual(
            self.code_of('puts("two"); return 0;', '/* { dg-output "one" } */'), "FAIL"
        )

    def test_the_test_s_variable_wins_over_a_setting(self):
        body = "return *getenv(\"OMP_X\") != '2';"
        self.assertEqual(
            self.code_of(body, '/* { dg-set-target-env-var OMP_X "2" } */', ["OMP_X=1"]), "PASS"
        )

    def test_a_program_that_does_not_end_is_ended(self):
        self.assertEqual(self.code_of("for (;;) abs(0);", timeout=1), "TIMEOUT")

    def test_common_tests_are_compiled_as_both_languages(self):
        self.write("return sizeof('a') != sizeof(int);", "libgomp.c-c++-common/u.c")
        programs = Programs(self.source, self.work)
        self.assertEqual(sorted(programs.all), ["c-c++-common as C++/u.c", "c-c++-common as C/u.c"])
        for name in programs.all:
            self.assertTrue(programs.compile(name))
        sizes = [
            subprocess.run([programs.all[name].path]).returncode for name in sorted(programs.all)
        ]
        self.assertEqual(sizes, [1, 0])

    def test_a_program_that_does_not_compile_leaves_the_reason(self):
        self.write("return nothing;")
        programs = Programs(self.source, self.work)
        self.assertFalse(programs.compile("libgomp.c/t.c"))
        self.assertIn("nothing", programs.all["libgomp.c/t.c"].path.with_suffix(".txt").read_text())


class Known(unittest.TestCase):
    def read(self, rows):
        with tempfile.NamedTemporaryFile("w", suffix=".md") as file:
            file.write(
                f"{gcc_suite.HEADING}\n\n| program | reason |\n|---|---|\n{rows}\n## Other\n| x | y |\n"
            )
            file.flush()
            return gcc_suite.read_known(pathlib.Path(file.name))

    def test_a_row_may_list_several_programs(self):
        listed = self.read("| libgomp.c/a.c, libgomp.c/b.c | a message's form |")
        self.assertEqual(listed.reason("libgomp.c/b.c"), "a message's form")
        self.assertIsNone(listed.reason("x"))

    def test_a_row_without_a_reason_is_an_error(self):
        with self.assertRaisesRegex(CannotRun, "'libgomp.c/a.c' has no reason"):
            self.read("| libgomp.c/a.c |  |")

    def test_what_passes_need_not_be_listed(self):
        listed = self.read("| libgomp.c/a.c, libgomp.c/b.c | r |")
        self.assertEqual(
            listed.stale({"libgomp.c/a.c": "PASS", "libgomp.c/b.c": "FAIL"}), ["libgomp.c/a.c"]
        )


class Command(unittest.TestCase):
    def test_without_a_library_it_is_an_error(self):
        with tempfile.TemporaryDirectory() as directory:
            result = subprocess.run(
                [sys.executable, "-B", HERE / "check_gcc_suite.py", "--build-dir", directory],
                env={**os.environ, "HIERBAR_OFFLINE": "1"},
                capture_output=True,
                text=True,
            )
        self.assertEqual(result.returncode, 2)
        self.assertIn("has no libgomp.so.1; build libomp", result.stderr)

    def test_without_sources_it_says_so_and_skips(self):
        with tempfile.TemporaryDirectory() as directory:
            library = pathlib.Path(directory) / "lib" / "libgomp.so.1"
            library.parent.mkdir()
            library.touch()
            environment = {
                **os.environ,
                "HIERBAR_OFFLINE": "1",
                "XDG_CACHE_HOME": directory,
                "HIERBAR_SOURCES": "",
            }
            result = subprocess.run(
                [sys.executable, "-B", HERE / "check_gcc_suite.py", "--build-dir", directory],
                env=environment,
                capture_output=True,
                text=True,
            )
        self.assertEqual(result.returncode, 77, result.stderr)
        self.assertIn("skipped: no sources of GCC's tests", result.stdout)


if __name__ == "__main__":
    unittest.main()
