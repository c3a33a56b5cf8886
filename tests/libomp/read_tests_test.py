#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of read_tests.py: what comments of a program become."""

import pathlib
import re
import unittest

import read_tests

HERE = pathlib.Path(__file__).resolve().parent

PROGRAM = """
// A program.

// BUILD: clang -ldl
// BUILD: gcc
// TEST: one two
//   CHECK: --counter fast>=10
//     --expect "leaders +.0,4.$"
// TEST trees (gcc): one
//   ENV: $trees KMP_BLOCKTIME=0
//   RUN: alone timeout=600

int main() {}
"""


def tests_of(text, variables=("trees", "dir")):
    program = read_tests.read_program("programs/some.cpp", text)
    return list(read_tests.Writer(variables).tests(program))


def calls_of(text):
    return [line.strip() for line in tests_of(text) if "omp_" in line]


class ReadTestsTest(unittest.TestCase):
    def test_a_file_without_comments_of_this_kind_is_no_program(self):
        self.assertIsNone(read_tests.read_program("a.cpp", "// A header of its own: for tests.\n"))

    def test_each_build_has_a_call(self):
        program = read_tests.read_program("programs/some.cpp", PROGRAM)
        self.assertEqual(
            list(read_tests.Writer(()).builds(program)),
            [
                "if(clang)",
                '  omp_program(some clang programs/some.cpp FLAGS "-ldl")',
                "endif()",
                "if(gcc)",
                "  omp_program(some_gcc gcc programs/some.cpp)",
                "endif()",
            ],
        )

    def test_tests_are_of_each_build_or_of_one_compiler(self):
        check = 'CHECK "--counter" "fast>=10" "--expect" "leaders +.0,4.\\$"'
        self.assertEqual(
            calls_of(PROGRAM),
            [
                f'omp_test(some.one some ARGS "one" {check})',
                f'omp_test(some.two some ARGS "two" {check})',
                f'omp_test(some_gcc.one some_gcc ARGS "one" {check})',
                f'omp_test(some_gcc.two some_gcc ARGS "two" {check})',
                'omp_test(some_gcc.one.trees some_gcc ARGS "one" ENV ${trees} "KMP_BLOCKTIME=0"'
                " TIMEOUT 600)",
                "omp_run_alone(some_gcc.one.trees)",
            ],
        )

    def test_names_and_arguments_can_be_others(self):
        text = "// BUILD: gcc\n// NAME: host\n// TEST: load\n//   ARGS: $dir/plugin.so {}\n"
        self.assertEqual(
            calls_of(text), ['omp_test(host.load some ARGS "${dir}/plugin.so" "load")']
        )
        text = "// BUILD: gcc\n// ARGS: -\n// TEST: load\n//   NAME: other\n"
        self.assertEqual(calls_of(text), ["omp_test(other some)"])

    def test_a_test_for_each_value(self):
        text = "! BUILD: gfortran\n! TEST: wait_{}\n!   EACH: 0 1\n!   ENV: TIME={}\n"
        self.assertEqual(
            calls_of(text),
            [
                'omp_test(some.wait_0 some ARGS "wait_0" ENV "TIME=0")',
                'omp_test(some.wait_1 some ARGS "wait_1" ENV "TIME=1")',
            ],
        )

    def test_what_holds_for_all_tests_of_a_file_comes_first(self):
        text = "// BUILD: gcc\n// CHECK: --a\n// TEST: x\n//   CHECK: --b\n// TEST: y\n"
        self.assertEqual(
            calls_of(text),
            [
                'omp_test(some.x some ARGS "x" CHECK "--a" "--b")',
                'omp_test(some.y some ARGS "y" CHECK "--a")',
            ],
        )

    def test_needs_and_versions_are_conditions(self):
        text = "// BUILD: plain\n// NEEDS: native\n// TEST: x\n//   RUN: llvm>=22\n"
        self.assertEqual(
            [line.strip() for line in tests_of(text)],
            [
                "if(native)",
                "if(tests_llvm_version VERSION_GREATER_EQUAL 22)",
                'omp_test(some.x some ARGS "x")',
                "endif()",
                "endif()",
            ],
        )

    def test_mistakes_are_named(self):
        for text, problem in (
            ("// BUILD: icc\n", "BUILD by 'icc': must be one of clang, gcc"),
            ("// TEST: x\n", "it has tests and no BUILD"),
            ("// BUILD: gcc\n//   ENV: A=1\n", "belongs to no TEST"),
            ("// BUILD: gcc\n// TEST (clang): x\n", r"TEST \(clang\), but no BUILD by it"),
            ("// BUILD: gcc\n// TEST: x\n//   ENV: A=1\n//   ENV: B=1\n", "two ENV of one TEST"),
            ("// BUILD: gcc\n// TEST: x\n//   ENV: $nothing\n", r"\$nothing: must be one of trees"),
            ("// BUILD: gcc\n// TEST: x\n//   RUN: fast\n", "'fast' is nothing that is known"),
            ("// BUILD: gcc\n// TEST:\n", "TEST says nothing"),
            ("// BUILD: gcc\n// A reason. TEST: x\n", "does not begin the line"),
        ):
            with self.subTest(text=text), self.assertRaisesRegex(read_tests.BadTest, problem):
                calls_of(text)


class Programs(unittest.TestCase):
    """The programs themselves."""

    def test_every_case_of_a_program_is_run_by_one_of_its_tests(self):
        for path in sorted((HERE / "programs").rglob("*.c*")):
            text = path.read_text(encoding="utf-8")
            if "run_case(" not in text or not re.search("^// TEST", text, re.MULTILINE):
                continue
            cases = re.findall(r'\{"(\w+)", \w+\}', text.partition("run_case(")[2])
            said = " ".join(line for line in text.splitlines() if line.startswith("//"))
            with self.subTest(path.name):
                self.assertEqual(set(cases) - set(re.findall(r"\w+", said)), set())


if __name__ == "__main__":
    unittest.main()
