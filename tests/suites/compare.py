# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what a test suite of others does on our library with what it does on the unmodified one.

1. The suite has run on ours.
2. For what failed there, find the unmodified library's result ("stock"): in the list of known
   failures, in the results kept from earlier runs, or by running it now.
3. Run each difference again, on both, three times. If ours fails again and stock never does, it is
   a regression. Otherwise it is reported as unsteady.

A suite is an object with

    name                                under which its results are kept
    version                             on which they depend, besides the settings
    work_dir                            where they are kept
    run(settings, tests=None, quiet=False) -> {test: code}
                                        runs these tests, or else all, with these variables
                                        (NAME=VALUE) set for each
"""

import argparse
import json
import os
import pathlib
import sys

RERUNS = 3
SKIPPED = 77  # the exit status of a command that cannot run here
# lit's codes for results that are not what the test wants. All suites use these codes.
FAILING_CODES = {"FAIL", "XPASS", "TIMEOUT", "UNRESOLVED"}
# Codes of tests that did not run.
SKIPPING_CODES = {"UNSUPPORTED", "SKIPPED"}


class CannotRun(Exception):
    """The comparison cannot be made; the message says why."""


def skip(reason):
    """Ends the command: what it runs is not here."""
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def exit_status(check):
    """Runs a command and returns its exit status: 0 no regression, 1 regression, 2 the comparison
    could not be made."""
    try:
        return check()
    except CannotRun as error:
        print(f"hierbar: error: {error}", file=sys.stderr)
        return 2


def make_suite_parser(description, *, each="program", timeout=60, timeout_note="", stock):
    """A parser with the options that all commands for other people's suites have. each: what is
    started once for each test. stock: what --full-stock runs."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build-dir",
        type=pathlib.Path,
        default=pathlib.Path("build/release"),
        help="default: build/release",
    )
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="for every program; repeatable",
    )
    parser.add_argument(
        "--timeout",
        type=int,
        default=timeout,
        help=f"seconds per {each}{timeout_note} (default: {timeout})",
    )
    parser.add_argument("--full-stock", action="store_true", help=f"run {stock} as well")
    parser.add_argument(
        "--json", type=pathlib.Path, metavar="FILE", help="also write the result there"
    )
    return parser


def add_jobs_option(parser, what):
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help=f"{what} at a time; default: one per cpu"
    )


def parse_suite_options(parser, words=None):
    arguments = parser.parse_args(words)
    arguments.build_dir = arguments.build_dir.resolve()
    for setting in arguments.env:
        if not setting.partition("=")[2]:
            parser.error(f"--env '{setting}': must be NAME=VALUE")
    return arguments


def without_our_barrier(settings):
    """The settings for stock libomp or libgomp."""
    return [setting for setting in settings if not setting.startswith("KMP_BARRIER=")]


def failed(code):
    return code in FAILING_CODES


class StockResults:
    """The results of the unmodified library under one set of variables. They are kept in a file of
    the suite's directory."""

    def __init__(self, suite, settings, known_failures):
        self._suite = suite
        self._settings = settings
        self._path = suite.work_dir / f"{suite.name}-results.json"
        self._kept = json.loads(self._path.read_text()) if self._path.exists() else {}
        key = " ".join([suite.version] + sorted(self._settings))
        self._codes = self._kept.setdefault(key, {})
        self._known_failures = known_failures

    def run(self, **selection):
        results = self._suite.run(self._settings, **selection)
        self._codes.update(results)
        self._path.write_text(json.dumps(self._kept, indent=1, sort_keys=True))
        return results

    def failing_of(self, tests):
        """Those of these tests that fail on stock. Runs the ones without a known result."""
        unknown = [t for t in tests if t not in self._known_failures and t not in self._codes]
        if unknown:
            print(f"hierbar: {len(unknown)} of these are run on stock", flush=True)
            failures = [t for t, code in self.run(tests=unknown).items() if failed(code)]
            # Twice, so that a single failure of stock by chance excuses none of ours.
            if failures:
                self.run(tests=failures, quiet=True)
        return {t for t in tests if t in self._known_failures or failed(self._codes[t])}


def rerun_difference(test, ours, stock, settings):
    """Runs one test again on both. Returns how often it failed on (ours, stock)."""
    counts = [0, 0]
    for _ in range(RERUNS):
        counts[0] += failed(ours.run(settings, tests=[test], quiet=True)[test])
        counts[1] += failed(stock.run(tests=[test], quiet=True)[test])
    return counts


def compare(ours, stock, settings, codes):
    """Steps 2 and 3, for the `codes` of step 1. Returns (regressions, unsteady, failing on stock
    too): two dicts of rerun counts and a list."""
    failing = sorted(t for t, code in codes.items() if failed(code))
    print(f"hierbar: {len(failing)} of {len(codes)} tests fail on ours", flush=True)
    shared = stock.failing_of(failing)
    regressions, unsteady = {}, {}
    for test in failing:
        if test in shared:
            continue
        print(
            f"hierbar: differs from stock: {test} ({codes[test]}); running it {RERUNS} times more on both",
            flush=True,
        )
        on_ours, on_stock = rerun_difference(test, ours, stock, settings)
        kind = regressions if on_ours and not on_stock else unsteady
        kind[test] = {
            "first": codes[test],
            "ours_failed": on_ours,
            "stock_failed": on_stock,
            "reruns": RERUNS,
        }
    return regressions, unsteady, sorted(shared)


def print_differences(regressions, unsteady, shared):
    print(f"  fail on stock too: {len(shared)}")
    for title, tests in (("unsteady", unsteady), ("regressions", regressions)):
        print(f"  {title}: {len(tests)}")
        for test, counts in sorted(tests.items()):
            print(
                f"    {test}: {counts['first']} at first; then ours failed {counts['ours_failed']} and stock "
                f"{counts['stock_failed']} of {counts['reruns']} times"
            )
