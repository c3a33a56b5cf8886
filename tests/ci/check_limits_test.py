#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of .ci/check_limits on a small repository with one fault planted."""

import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / ".ci" / "check_limits"
LOADER = importlib.machinery.SourceFileLoader("check_limits", str(SCRIPT))
check_limits = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("check_limits", LOADER)
)
LOADER.exec_module(check_limits)


def function(head, num_lines, indent=""):
    return f"{indent}{head} {{\n" + f"{indent}  step();\n" * (num_lines - 2) + f"{indent}}}\n"


class CheckLimitsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)

    def faults_with(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")
        return [
            fault for fault in check_limits.faults_of(self.root) if "the same 6 lines" not in fault
        ]

    def test_a_file_has_at_most_500_lines(self):
        self.assertEqual(self.faults_with("tests/some_test.py", "step()\n" * 500), [])
        self.assertEqual(
            self.faults_with("tests/some_test.py", "step()\n" * 501),
            ["tests/some_test.py: 501 lines, more than 500"],
        )

    def test_a_line_of_a_product_has_at_most_100_columns(self):
        self.assertEqual(self.faults_with("mpi/some.cmake", "#" + "µ" * 99 + "\n"), [])
        self.assertEqual(self.faults_with("tests/some.cmake", "#" * 101 + "\n"), [])
        self.assertEqual(
            self.faults_with("mpi/some.cmake", "\n" + "#" * 101 + "\n"),
            ["mpi/some.cmake:2: 101 columns, more than 100"],
        )

    def test_a_function_has_at_most_45_lines(self):
        for head in (
            "int main()",
            "static void Some::go(int a,\n    int b) const noexcept",
            "Some::Some(int a)\n    : a_(a),\n      b_{2}",
            "template <typename T>\nvoid go(T t)",
        ):
            lines_before = head.count("\n")
            with self.subTest(head=head):
                self.assertEqual(
                    self.faults_with(
                        "mpi/some.cpp",
                        "namespace a {\n" + function(head, 45 - lines_before) + "}\n",
                    ),
                    [],
                )
                self.assertEqual(
                    self.faults_with(
                        "mpi/some.cpp",
                        "namespace a {\n\n" + function(head, 46 - lines_before) + "}\n",
                    ),
                    ["mpi/some.cpp:3: a function of 46 lines, more than 45"],
                )

    def test_a_member_function_counts_and_its_class_does_not(self):
        members = function("void a()", 30, "  ") + function("void b()", 30, "  ")
        self.assertEqual(
            self.faults_with("runtime/some.hpp", f"class Some {{\n public:\n{members}}};\n"), []
        )
        long_one = function("void c()", 50, "  ")
        self.assertEqual(
            self.faults_with(
                "runtime/some.hpp", f"class Some {{\n public:\n{members}{long_one}}};\n"
            ),
            ["runtime/some.hpp:63: a function of 50 lines, more than 45"],
        )

    def test_tables_and_texts_are_no_functions(self):
        rows = '    {"a", b(1)},\n' * 60
        self.assertEqual(
            self.faults_with("bench/some.cpp", f"constexpr Row kRows[] = {{\n{rows}}};\n"), []
        )
        text = "void inside() {\n" * 60
        self.assertEqual(
            self.faults_with("bench/some.cpp", f'const char* kText = R"js({text})js";\nint a;\n'),
            [],
        )

    def test_a_folder_has_at_most_25_files(self):
        for i in range(25):
            self.assertEqual(self.faults_with(f"runtime/base/{i}.hpp", ""), [])
        self.assertEqual(
            self.faults_with("runtime/base/one_more.cpp", ""),
            ["runtime/base: 26 files, more than 25"],
        )

    def test_six_lines_do_not_stand_twice_in_products(self):
        run = "".join(f"  step_{i}(a, b);\n" for i in range(6))
        (self.root / "mpi").mkdir()
        (self.root / "tests").mkdir()
        (self.root / "mpi/one.cpp").write_text("void one() {\n" + run + "}\n")
        (self.root / "tests/one.cpp").write_text("void one() {\n" + run + "}\n")
        (self.root / "mpi/other.cpp").write_text(
            "void other() {\n  first();\n" + run.replace("step_5", "last") + "}\n"
        )
        self.assertEqual(list(check_limits.faults_of(self.root)), [])
        (self.root / "mpi/other.cpp").write_text(
            "void other() {\n  first();\n" + run.replace("(a", "( a") + "}\n"
        )
        self.assertEqual(
            list(check_limits.faults_of(self.root)),
            ["mpi/other.cpp:3: the same 6 lines as mpi/one.cpp:2"],
        )


if __name__ == "__main__":
    unittest.main()
