#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the runner without the checker: the accesses that it finds, how it weakens them, and how it
reads GenMC's output."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import cases
import checks
import genmc
import mutants
import report

RUN = pathlib.Path(__file__).resolve().parent / "run.py"
ROOT = RUN.parents[2]

PASSED = """\
No errors were detected.
Number of complete executions explored: 415
Number of blocked executions seen: 35
Total wall-clock time: 0.12s
"""
FAILED = """\
Error detected: Liveness violation!
Event (1, 30) in graph:
Number of complete executions explored: 6
"""


def site(code, tag="A1"):
    return mutants.sites_of("a.hpp", f"  // (B9) a comment alone\n  {code}  // ({tag})\n")


class Sites(unittest.TestCase):
    def test_every_tagged_line_of_the_project_is_understood(self):
        # It raises BadTag if a line is not understood.
        self.assertIn("awaited_word.hpp:A1", [s.name for s in mutants.all_sites()])

    def test_an_access_of_mem_has_the_order_of_its_operation(self):
        (found,) = site("mem_.fetch_or(word, 1);")
        self.assertEqual((found.tag, found.kind, found.order), ("A1", "update", "seq_cst"))

    def test_an_access_of_an_atomic_names_its_order(self):
        (found,) = site("word.store(1, std::memory_order_release);", "pool.U1")
        self.assertEqual((found.tag, found.kind, found.order), ("U1", "store", "release"))

    def test_the_same_tag_twice_is_two_sites(self):
        found = mutants.sites_of("a.hpp", "mem.fence();  // (R0)\nmem.fence();  // (R0)\n")
        self.assertEqual([s.name for s in found], ["a.hpp:R0", "a.hpp:R0.2"])

    def test_a_fence_after_a_wait_has_the_tag_of_the_comment_above(self):
        (found,) = mutants.sites_of(
            "a.cpp", "  // (file.G2) pairs with (G1)\n  acquire_after_wait();\n"
        )
        self.assertEqual((found.tag, found.order), ("G2", "acquire"))

    def test_a_wait_that_is_passed_on_is_no_site(self):
        self.assertEqual(site("return mem.wait(pending);", "W1"), [])

    def test_a_tag_without_an_access_is_an_error_that_names_the_line(self):
        with self.assertRaisesRegex(mutants.BadTag, r"^a\.hpp:2: .*return true;"):
            site("return true;")


class Mutations(unittest.TestCase):
    def weakened(self, code, order):
        text = f"  {code}  // (A1)\n"
        (found,) = mutants.sites_of("a.hpp", text)
        return mutants.mutate(found, order, text).strip()

    def test_an_operation_of_mem_gets_its_order_as_an_argument(self):
        self.assertEqual(
            self.weakened("x = mem_.exchange(word, 1);", "release"),
            "x = mem_.template exchange<std::memory_order_release>(word, 1);  // (A1)",
        )

    def test_an_atomic_gets_another_order(self):
        self.assertEqual(
            self.weakened("word.load(std::memory_order_acquire);", "relaxed"),
            "word.load(std::memory_order_relaxed);  // (A1)",
        )

    def test_a_fence_after_a_wait_goes(self):
        text = "// (G2)\n  acquire_after_wait();\nnext();\n"
        (found,) = mutants.sites_of("a.cpp", text)
        self.assertEqual(mutants.mutate(found, "relaxed", text), "// (G2)\n\nnext();\n")

    def test_a_line_that_is_not_what_it_was_is_an_error(self):
        (found,) = mutants.sites_of("a.hpp", "mem.fence();  // (A1)\n")
        with self.assertRaises(mutants.BadTag):
            mutants.mutate(found, "relaxed", "something_else();\n")


class Orders(unittest.TestCase):
    def test_a_survivor_makes_stronger_orders_survive(self):
        (found,) = site("mem.fetch_add(word, 1);")
        survivor = checks.MutantResult(found, "release", survived=3)
        self.assertTrue(checks.says_nothing_new("acq_rel", [survivor]))
        self.assertFalse(checks.says_nothing_new("acquire", [survivor]))
        killed = checks.MutantResult(found, "relaxed", killer="engine.pair rc11")
        self.assertFalse(checks.says_nothing_new("acquire", [killed]))


class Outcomes(unittest.TestCase):
    def test_executions_are_read(self):
        outcome = genmc.outcome_of(PASSED, 0, 0.1)
        self.assertEqual((outcome.result, outcome.executions, outcome.blocked), ("passed", 415, 35))

    def test_an_error_is_read(self):
        outcome = genmc.outcome_of(FAILED, 42, 0.1)
        self.assertEqual((outcome.result, outcome.message), ("error", "Liveness violation"))

    def test_a_checker_that_breaks_down_is_not_a_result(self):
        for log, status in (("BUG: Failure at Pass.cpp:60\n", 1), ("", -11), (PASSED, 1)):
            with self.assertRaises(genmc.CannotRun):
                genmc.outcome_of(log, status, 0.1)


class Judgement(unittest.TestCase):
    def results(self, mutant):
        return report.Results("0.9", [], [mutant], 1.0)

    def test_a_survivor_without_a_reason_is_a_problem(self):
        (found,) = site("mem.fence();")
        problems = report.problems_of(
            self.results(checks.MutantResult(found, "relaxed", survived=3)), whole=True
        )
        self.assertEqual(len(problems), 1)
        self.assertIn("a.hpp:A1 made relaxed survives 3 cases", problems[0])

    def test_an_access_that_no_case_has_is_a_problem(self):
        (found,) = site("mem.fence();")
        problems = report.problems_of(
            self.results(checks.MutantResult(found, "relaxed")), whole=False
        )
        self.assertIn("changes no case", problems[0])

    def test_reasons_are_for_accesses_that_exist(self):
        weakenings = {(s.name, order) for s in mutants.all_sites() for order in s.weaker_orders()}
        self.assertEqual(set(mutants.REASONS) - weakenings, set())


class Tables(unittest.TestCase):
    def test_only_what_is_between_the_marks_changes(self):
        results = report.Results(
            "0.9",
            [
                checks.CaseResult(cases.CASES[0], model, genmc.outcome_of(PASSED, 0, 0.1))
                for model in genmc.MODELS
            ],
            [],
            1.0,
        )
        with tempfile.TemporaryDirectory() as directory:
            page = pathlib.Path(directory) / "page.md"
            page.write_text("above\n<!-- cases: begin -->\nold\n<!-- cases: end -->\nbelow\n")
            report.write_markdown(results, page)
            text = page.read_text()
        self.assertTrue(text.startswith("above\n") and text.endswith("below\n"))
        self.assertNotIn("old", text)
        self.assertIn("| `engine.pair` |", text)

    def test_the_page_has_every_case_and_every_access_that_has_weaker_orders(self):
        page = (ROOT / "docs/results/model-checking.md").read_text(encoding="utf-8")

        def rows(table):
            text = page.split(f"<!-- {table}: begin -->")[1].split(f"<!-- {table}: end -->")[0]
            return set(re.findall(r"^\| `([^`]+)` ", text, re.MULTILINE))

        self.assertEqual(rows("cases"), {case.name for case in cases.CASES})
        sites = {site.name for site in mutants.all_sites() if list(site.weaker_orders())}
        self.assertEqual(rows("mutants"), sites)


# As much of the checker's header as the drivers use.
GENMC_HEADER = """\
#include <stdint.h>
extern "C" {
void __VERIFIER_assert_fail(const char *, const char *, unsigned);
void __VERIFIER_loop_begin(void);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(int);
typedef long __VERIFIER_thread_t;
__VERIFIER_thread_t __VERIFIER_thread_create(void *, void *(*)(void *), void *);
void *__VERIFIER_thread_join(__VERIFIER_thread_t, void *);
typedef struct { int i; } __VERIFIER_mutex_t;
#define __VERIFIER_MUTEX_INITIALIZER { 0 }
void __VERIFIER_mutex_lock(__VERIFIER_mutex_t *);
void __VERIFIER_mutex_unlock(__VERIFIER_mutex_t *);
}
"""


class Drivers(unittest.TestCase):
    def compiler(self):
        for name in (os.environ.get("CLANGXX", ""), "clang++-14", "clang++-19", "clang++"):
            if name and shutil.which(name):
                return shutil.which(name)
        return self.skipTest("no clang++")

    def test_every_driver_fits_the_sources_of_today(self):
        tools = object.__new__(genmc.Genmc)  # without a checker
        tools.compiler = self.compiler()
        drivers = {case.driver: case for case in cases.CASES}
        with tempfile.TemporaryDirectory() as directory:
            tools.headers = pathlib.Path(directory)
            (tools.headers / "genmc.h").write_text(GENMC_HEADER)
            for case in drivers.values():
                with self.subTest(case.name):
                    tools.compile(
                        genmc.HERE / case.driver, case.defines, tools.headers / "driver.ll"
                    )


class Command(unittest.TestCase):
    def run_with(self, *arguments, **environment):
        variables = {
            name: value for name, value in os.environ.items() if name not in ("GENMC", "CLANGXX")
        }
        return subprocess.run(
            [sys.executable, "-B", RUN, *arguments],
            env={**variables, **environment},
            capture_output=True,
            text=True,
        )

    def test_without_the_checker_it_says_why_it_is_skipped(self):
        for environment, reason in (
            ({}, "GENMC is not set"),
            ({"GENMC": "/nowhere"}, "GENMC '/nowhere': there is no src/genmc"),
        ):
            done = self.run_with("--quick", **environment)
            self.assertEqual(done.returncode, 77)
            self.assertIn(f"skipped: {reason}", done.stdout)

    def test_the_list_needs_no_checker(self):
        done = self.run_with("--list")
        self.assertEqual(done.returncode, 0)
        self.assertIn("engine.pair ", done.stdout)

    def test_a_bad_option_is_named(self):
        done = self.run_with("--jobs", "0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--jobs '0': must be at least 1", done.stderr)


if __name__ == "__main__":
    unittest.main()
