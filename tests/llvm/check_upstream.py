#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the patches for LLVM in runtime/libomp/patches/llvm-fixes without anything else of ours.

    check_upstream.py
    check_upstream.py --series rfc

There are two series: the fixes, on LLVM's sources as they are, and the proposals in `rfc`, on these
with the fixes. For each:

1. Build LLVM's libomp without the series and with it (targets stock_libomp, upstream_libomp and
   rfc_libomp). A build directory that is not there is configured.
2. Run the tests that the patches add on the library without them. Each must fail.
3. Run LLVM's suite, which has these tests now, on the library with them; for the proposals with the
   variables that choose what they add. They must pass, and so must what passes without the series
   and the variables, as tests/suites/compare.py judges it.

Exit status: 0 all is as it must be, 1 it is not, 2 it could not be tried.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import time

import check_libomp
import lit_runner
import summary
from compare import CannotRun, StockResults, compare, exit_status, failed, print_differences

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UPSTREAM = ROOT / "runtime/libomp/patches/llvm-fixes"
# patches: their directory. before, after: the libraries by the names of their targets. settings:
# variables for the suite.
Series = collections.namedtuple("Series", "title patches before after settings")
SERIES = {
    "fixes": Series("the fixes for it", UPSTREAM, "stock", "upstream", []),
    "rfc": Series(
        "the proposals for it",
        UPSTREAM / "rfc",
        "upstream",
        "rfc",
        ["KMP_PLAIN_BARRIER_PATTERN=exchange"],
    ),
}
ADDED = re.compile(r"^--- /dev/null\n\+\+\+ b/openmp/runtime/test/(.*\.(?:c|cpp))$", re.MULTILINE)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build-dir",
        type=pathlib.Path,
        default=ROOT / "build/release",
        help="default: build/release",
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="tests at a time; default: one per cpu"
    )
    parser.add_argument(
        "--timeout",
        type=int,
        default=600,
        help="seconds per test; four tests sleep for 160 (default: 600)",
    )
    parser.add_argument(
        "--series", choices=SERIES, action="append", help="test this one; repeatable; default: all"
    )
    parser.add_argument("--added-only", action="store_true", help="leave out LLVM's own tests")
    parser.add_argument(
        "--json", type=pathlib.Path, metavar="FILE", help="also write the result there"
    )
    arguments = parser.parse_args()
    arguments.build_dir = arguments.build_dir.resolve()
    arguments.series = arguments.series or list(SERIES)
    return arguments


def configure(build_dir):
    if (build_dir / "CMakeCache.txt").exists():
        return
    done = subprocess.run(
        ["cmake", "--preset", "release", "-B", build_dir, "-DHIERBAR_TEST_ALL_LLVM=OFF"], cwd=ROOT
    )
    if done.returncode != 0:
        raise CannotRun(f"cmake --preset release -B {build_dir} failed")


def added_tests(patch_dir):
    """{test: name of the patch that adds it}"""
    result = {
        test: patch.name
        for patch in sorted(patch_dir.glob("*.patch"))
        for test in ADDED.findall(patch.read_text())
    }
    if not result:
        raise CannotRun(f"no patch in {patch_dir} adds a test")
    return result


def without_test(patch_dir, added):
    """Patches that no test shows the need of."""
    return sorted(
        patch.name for patch in patch_dir.glob("*.patch") if patch.name not in added.values()
    )


def print_added(series, added, before, after):
    print(f"\nwithout and with {series.title}:")
    for test, patch in added.items():
        print(f"  {before[test]:8} {after[test]:8} {test} ({patch[:4]})")


class Libraries:
    """LLVM's newest libomp that we know of, built with and without the patches."""

    def __init__(self, build_dir):
        configure(build_dir)
        self.newest = check_libomp.known_llvm_versions()[0]
        is_default = lit_runner.read_cmake_cache(build_dir, "HIERBAR_LLVM_VERSION") == self.newest
        self._build_dir = build_dir
        self._suffix = "" if is_default else "_" + self.newest.split(".")[0]
        self._dir = build_dir if is_default else build_dir / f"llvm-{self.newest}"

    def suite(self, kind, options, library=None):
        """The suite that comes with the library of this kind, on another one if that is named."""
        self.build(kind)
        return lit_runner.Suite(
            self._build_dir, self._target(kind), options, library and self.build(library)
        )

    def build(self, kind):
        """Returns the directory of this library."""
        check_libomp.build(self._build_dir, self._target(kind))
        return self._dir / kind / "lib"

    def _target(self, kind):
        return f"{kind}_libomp{self._suffix}"


def check_series(series, libraries, arguments):
    """Returns what goes into the file of --json."""
    start = time.monotonic()
    added = added_tests(series.patches)
    options = {"filter": None, "jobs": arguments.jobs, "timeout": arguments.timeout}
    quick = dict(options, timeout=min(arguments.timeout, 60))
    before = libraries.suite(series.after, quick, library=series.before).run([], tests=list(added))

    patched = libraries.suite(series.after, options)
    codes = patched.run(series.settings, tests=list(added) if arguments.added_only else None)
    known_failures = check_libomp.read_known_failures(libraries.newest, patched.compiler_major)
    unpatched = StockResults(libraries.suite(series.before, options), [], known_failures)
    own = {test: code for test, code in codes.items() if test not in added}
    regressions, unsteady, shared = compare(patched, unpatched, series.settings, own)
    print_added(series, added, before, codes)
    print_differences(regressions, unsteady, shared)
    wrong = [
        f"{test} does not fail without the patches" for test in added if not failed(before[test])
    ]
    wrong += [f"{test} does not pass with them" for test in added if codes[test] != "PASS"]
    wrong += [f"{patch} adds no test" for patch in without_test(series.patches, added)]
    wrong += [f"{test} fails with the patches only" for test in regressions]
    for text in wrong:
        print(f"hierbar: {text}")
    return {
        "environment": series.settings,
        "counts": summary.count(codes, wrong, unsteady, shared),
        "wrong": wrong,
        "before": before,
        "with_patches": collections.Counter(codes.values()),
        "unsteady": unsteady,
        "fail_on_stock_too": shared,
        "seconds": round(time.monotonic() - start),
    }


def check(arguments):
    libraries = Libraries(arguments.build_dir)
    results = {name: check_series(SERIES[name], libraries, arguments) for name in arguments.series}
    if arguments.json:
        summary.write(
            arguments.json,
            {
                "suite": f"LLVM {libraries.newest} with the patches for it",
                "environment": [
                    setting for result in results.values() for setting in result["environment"]
                ],
                "counts": {
                    name: sum(result["counts"][name] for result in results.values())
                    for name in summary.COUNTS
                },
                "series": results,
            },
        )
    return 1 if any(result["wrong"] for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: check(parse_arguments())))
