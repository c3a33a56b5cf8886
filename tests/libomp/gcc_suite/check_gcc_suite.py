#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs GCC's own tests of libgomp on our libgomp.so.1 and fails when a program fails there that
passes on GCC's library.

    check_gcc_suite.py --env KMP_BARRIER=hier
    check_gcc_suite.py --only '^libgomp.c/loop' --env OMP_NUM_THREADS=4

1. Fetch the tests' sources, as fetch_gcc_tests.sh does, and compile them: C, C++ and Fortran; no
   OpenACC, no devices. A test that GCC's own harness would not run here is left out, and counted
   with its reason as UNSUPPORTED.
2. Run each program on ours with the given variables. What the test sets for itself wins.
3. Compare with GCC's library, as compare.py does.
4. Programs that GOMP.md lists under "GCC's own tests" may fail, for the reason given there. A
   whole run says so if one of them does not.

Exit status: 0 nothing else failed, 1 something did, 2 the comparison could not be made, 77 there
are no sources or no compiler.
"""

import collections
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.append(str(ROOT / "tests/suites"))
import summary
from compare import (
    CannotRun,
    StockResults,
    add_jobs_option,
    compare,
    exit_status,
    make_suite_parser,
    parse_suite_options,
    print_differences,
    skip,
    without_our_barrier,
)
from gcc_suite import GccSuite, read_known
from programs import Programs


def parse_arguments():
    parser = make_suite_parser(__doc__, stock="everything on GCC's library")
    parser.add_argument(
        "--lib-dir",
        type=pathlib.Path,
        help="where our libgomp.so.1 is; default: lib of the build directory",
    )
    parser.add_argument(
        "--only", metavar="REGEX", default="", help="only programs whose names match"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth of these")
    add_jobs_option(parser, "compilers, and programs,")
    parser.add_argument(
        "--known",
        type=pathlib.Path,
        default=ROOT / "runtime/libomp/gomp/GOMP.md",
        help="default: GOMP.md",
    )
    arguments = parse_suite_options(parser)
    arguments.lib_dir = (arguments.lib_dir or arguments.build_dir / "lib").resolve()
    return arguments


def fetch(work_dir):
    source_dir = work_dir / "source"
    command = [HERE / "fetch_gcc_tests.sh", "--out", source_dir, "--state", work_dir / "state"]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        skip(
            f"no sources of GCC's tests: {(result.stdout.strip().splitlines() or ['nothing said'])[-1]}"
        )
    return source_dir


def compile_all(programs, names, jobs):
    print(
        f"hierbar: compiling {len(names)} programs (half an hour of cpu time for all of them, the first time)",
        flush=True,
    )
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return dict(zip(names, pool.map(programs.compile, names)))


def report(arguments, codes, failures, known, stock_failures, seconds, version):
    """Prints what a run found. Returns the regressions that GOMP.md does not list."""
    regressions, unsteady, shared = stock_failures
    expected = {name: counts for name, counts in regressions.items() if known.reason(name)}
    new = {name: counts for name, counts in regressions.items() if name not in expected}
    counts = collections.Counter(codes.values())
    print(
        f"\nGCC's tests of libgomp, {version}, {' '.join(arguments.env) or 'no variables set'}, {seconds:.0f} s\n  ours: "
        + ", ".join(f"{count} {code}" for code, count in sorted(counts.items()))
    )
    print_differences(new, unsteady, shared)
    for name in sorted(set(new) | set(unsteady)):
        print(f"      {name}: {failures.get(name, '')}")
    print(f"  differ as GOMP.md says: {len(expected)}")
    for name in sorted(expected):
        print(f"    {name}: {known.reason(name)}")
    for name in known.stale(codes):
        print(f"  GOMP.md lists {name}, which passed")
    return new, expected


def check():
    arguments = parse_arguments()
    if not shutil.which("gcc"):
        skip("no gcc")
    if not arguments.lib_dir.joinpath("libgomp.so.1").exists():
        raise CannotRun(f"'{arguments.lib_dir}' has no libgomp.so.1; build libomp")
    work_dir = arguments.build_dir / "suites" / "gcc"
    work_dir.mkdir(parents=True, exist_ok=True)
    known = read_known(arguments.known)
    programs = Programs(fetch(work_dir), work_dir / "programs")
    chosen = [name for name in programs.all if re.search(arguments.only, name)]
    reasons = {name: programs.all[name].reason_not_to_run() for name in chosen}
    runnable = [name for name in chosen if not reasons[name]][:: arguments.every]
    compiled = compile_all(programs, runnable, arguments.jobs)
    tests = [name for name in runnable if compiled[name]]

    start = time.monotonic()
    version = subprocess.run(
        ["gcc", "-dumpfullversion"], capture_output=True, text=True
    ).stdout.strip()
    run_dir = arguments.build_dir / "suites" / "gcc-run"
    run_dir.mkdir(exist_ok=True)
    ours = GccSuite(
        "ours",
        version,
        run_dir,
        programs,
        tests,
        arguments.lib_dir,
        arguments.jobs,
        arguments.timeout,
    )
    stock_suite = GccSuite(
        "libgomp", version, run_dir, programs, tests, None, arguments.jobs, arguments.timeout
    )
    stock = StockResults(stock_suite, without_our_barrier(arguments.env), {})
    if arguments.full_stock:
        stock.run()
    codes = ours.run(arguments.env)
    differences = compare(ours, stock, arguments.env, codes)
    for name in chosen:
        if reasons[name] or compiled.get(name) is False:
            codes[name] = "UNSUPPORTED"
    new, expected = report(
        arguments, codes, ours.failures, known, differences, time.monotonic() - start, version
    )
    if arguments.json:
        _, unsteady, shared = differences
        summary.write(
            arguments.json,
            {
                "suite": f"GCC's tests of libgomp, {version}",
                "environment": arguments.env,
                "codes": codes,
                "regressions": new,
                "unsteady": unsteady,
                "fail_on_stock_too": shared,
                "listed": sorted(expected),
                "failures": ours.failures,
                "counts": summary.count(codes, new, unsteady, [*shared, *expected]),
            },
        )
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(exit_status(check))
