#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the patches for LLVM in runtime/libomp/upstream without anything else of ours.

    check_upstream.py

1. Build LLVM's libomp as it is and with these patches (targets stock_libomp and upstream_libomp). A
   build directory that is not there is configured.
2. Run the tests that the patches add on the unmodified library. Each must fail.
3. Run LLVM's suite, which has these tests now, on the patched one. They must pass, and so must what
   passes on the unmodified library, as tests/suites/compare.py judges it.

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
ADDED = re.compile(r"^--- /dev/null\n\+\+\+ b/openmp/runtime/test/(.*\.(?:c|cpp))$", re.MULTILINE)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, default=ROOT / "build/release", help="default: build/release")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at a time; default: one per cpu")
    parser.add_argument("--timeout", type=int, default=600, help="seconds per test; four tests sleep for 160 (default: 600)")
    parser.add_argument("--added-only", action="store_true", help="leave out LLVM's own tests")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write the result there")
    arguments = parser.parse_args()
    arguments.build_dir = arguments.build_dir.resolve()
    return arguments


def configure(build_dir):
    if (build_dir / "CMakeCache.txt").exists():
        return
    done = subprocess.run(["cmake", "--preset", "release", "-B", build_dir, "-DHIERBAR_TEST_ALL_LLVM=OFF"], cwd=ROOT)
    if done.returncode != 0:
        raise CannotRun(f"cmake --preset release -B {build_dir} failed")


def added_tests(upstream_dir):
    """{test: name of the patch that adds it}"""
    result = {test: patch.name for patch in sorted(upstream_dir.glob("*.patch")) for test in ADDED.findall(patch.read_text())}
    if not result:
        raise CannotRun(f"no patch in {upstream_dir} adds a test")
    return result


def without_test(upstream_dir, added):
    """Patches that no test shows the need of."""
    return sorted(patch.name for patch in upstream_dir.glob("*.patch") if patch.name not in added.values())


def print_added(added, before, after):
    print("\nwithout and with the patches:")
    for test, patch in added.items():
        print(f"  {before[test]:8} {after[test]:8} {test} ({patch[:4]})")


def check(arguments):
    start = time.monotonic()
    upstream_dir = ROOT / "runtime/libomp/upstream"
    added = added_tests(upstream_dir)
    configure(arguments.build_dir)
    version = lit_runner.read_cmake_cache(arguments.build_dir, "HIERBAR_LLVM_VERSION")
    newest = check_libomp.known_llvm_versions()[0]
    suffix = "" if version == newest else "_" + newest.split(".")[0]
    targets = [f"stock_libomp{suffix}", f"upstream_libomp{suffix}"]
    for target in targets:
        check_libomp.build(arguments.build_dir, target)
    library_dir = arguments.build_dir / ("stock/lib" if version == newest else f"llvm-{newest}/stock/lib")
    quick = {"filter": None, "jobs": arguments.jobs, "timeout": min(arguments.timeout, 60)}
    before = lit_runner.Suite(arguments.build_dir, targets[1], quick, library_dir).run([], tests=list(added))

    options = dict(quick, timeout=arguments.timeout)
    patched = lit_runner.Suite(arguments.build_dir, targets[1], options)
    codes = patched.run([], tests=list(added) if arguments.added_only else None)
    stock_suite = lit_runner.Suite(arguments.build_dir, targets[0], options)
    stock = StockResults(stock_suite, [], check_libomp.read_known_failures(newest, patched.compiler_major))
    own = {test: code for test, code in codes.items() if test not in added}
    regressions, unsteady, shared = compare(patched, stock, [], own)
    print_added(added, before, codes)
    print_differences(regressions, unsteady, shared)
    wrong = [f"{test} does not fail without the patches" for test in added if not failed(before[test])]
    wrong += [f"{test} does not pass with them" for test in added if codes[test] != "PASS"]
    wrong += [f"{patch} adds no test" for patch in without_test(upstream_dir, added)]
    wrong += [f"{test} fails with the patches only" for test in regressions]
    for text in wrong:
        print(f"hierbar: {text}")
    if arguments.json:
        counts = summary.count(codes, wrong, unsteady, shared)
        summary.write(arguments.json, {
            "suite": f"LLVM {newest} with the patches for it", "environment": [], "counts": counts, "wrong": wrong,
            "before": before, "with_patches": collections.Counter(codes.values()), "unsteady": unsteady,
            "fail_on_stock_too": shared, "seconds": round(time.monotonic() - start),
        })
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: check(parse_arguments())))
