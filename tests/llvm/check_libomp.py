#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs LLVM's tests of libomp on our build and fails when a test fails there that passes on the
unpatched build.

    check_libomp.py --env KMP_BARRIER=hier --env OMP_PLACES=cores

1. Build both libraries in the build directory (targets libomp and stock_libomp; with --debug-build
   their debug twins, with --llvm those of another version).
2. Run the suite on ours with the given variables set for every test program.
3. Compare with stock under the same variables without KMP_BARRIER, as tests/suites/compare.py does.
   The known failures are those that the compiler is too old for (fails_on_stock.txt).
   With --full-stock the whole suite runs on stock.

Exit status: 0 no regression, 1 regression, 2 the comparison could not be made.
"""

import collections
import pathlib
import subprocess
import sys
import time

import lit_runner

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KNOWN_FAILURES = pathlib.Path(__file__).with_name("fails_on_stock.txt")
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
    without_our_barrier,
)


def known_llvm_versions():
    lines = (ROOT / "cmake/llvm_versions.txt").read_text().splitlines()
    return [line.split()[0] for line in lines if not line.startswith("#")]


def parse_arguments():
    parser = make_suite_parser(
        __doc__,
        each="test",
        timeout=600,
        timeout_note="; four tests sleep for 160",
        stock="the whole suite on stock",
    )
    parser.add_argument(
        "--llvm",
        metavar="VERSION",
        choices=known_llvm_versions(),
        help="whose libomp and suite; default: HIERBAR_LLVM_VERSION of the build directory",
    )
    parser.add_argument("--filter", metavar="REGEX", help="only tests whose names match")
    add_jobs_option(parser, "tests")
    parser.add_argument("--debug-build", action="store_true", help="builds with LLVM's assertions")
    arguments = parse_suite_options(parser)
    for setting in arguments.env:
        name, _, value = setting.partition("=")
        # The suite's lit.cfg splits CHECK_OPENMP_ENV at blanks, and each part at every '='.
        if not name or "=" in value or any(c.isspace() for c in setting):
            parser.error(
                f"--env '{setting}': must be NAME=VALUE, and VALUE must be without blanks and '='"
            )
    return arguments


def target_names(llvm_version, default_version, debug_build):
    """The two targets to compare; runtime/libomp/CMakeLists.txt names them."""
    suffix = "_debug" if debug_build else ""
    if llvm_version != default_version:
        suffix += "_" + llvm_version.split(".")[0]
    return "libomp" + suffix, "stock_libomp" + suffix


def build(build_dir, target):
    print(f"hierbar: building {target}", flush=True)
    done = subprocess.run(
        ["cmake", "--build", str(build_dir), "--target", target],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise CannotRun(
            f"cmake --build {build_dir} --target {target} failed:\n{done.stdout[-4000:]}"
        )


def read_known_failures(llvm_version, compiler_major):
    """The tests that always fail on stock, because the suite is newer than the compiler."""
    sections, section = {}, None
    for line in KNOWN_FAILURES.read_text().splitlines():
        entry = line.split("#")[0].strip()
        if entry.startswith("["):
            section = sections.setdefault(entry.strip("[]"), set())
        elif entry:
            section.add(entry)
    wanted = f"{llvm_version} clang {compiler_major}"
    if wanted not in sections:
        print(f"hierbar: {KNOWN_FAILURES.name} has no [{wanted}]; stock is run on all that fails")
    return sections.get(wanted, set())


def print_result(result):
    print(
        f"\nlibomp {result['llvm']}, {result['compiler']}, {result['build']} build, "
        f"{' '.join(result['environment']) or 'no variables set'}, {result['seconds']} s"
    )
    print(
        "  ours: " + ", ".join(f"{count} {code}" for code, count in sorted(result["ours"].items()))
    )
    if result["stock"]:
        print(
            "  stock: "
            + ", ".join(f"{count} {code}" for code, count in sorted(result["stock"].items()))
        )
    print_differences(result["regressions"], result["unsteady"], result["fail_on_stock_too"])


def check(arguments):
    start = time.monotonic()
    default_version = lit_runner.read_cmake_cache(arguments.build_dir, "HIERBAR_LLVM_VERSION")
    llvm_version = arguments.llvm or default_version
    ours_target, stock_target = target_names(llvm_version, default_version, arguments.debug_build)
    build(arguments.build_dir, ours_target)
    build(arguments.build_dir, stock_target)
    options = {"filter": arguments.filter, "jobs": arguments.jobs, "timeout": arguments.timeout}
    ours = lit_runner.Suite(arguments.build_dir, ours_target, options)
    stock_suite = lit_runner.Suite(arguments.build_dir, stock_target, options)
    stock = StockResults(
        stock_suite,
        without_our_barrier(arguments.env),
        read_known_failures(llvm_version, ours.compiler_major),
    )

    codes = ours.run(arguments.env)
    stock_codes = stock.run() if arguments.full_stock else {}
    regressions, unsteady, shared = compare(ours, stock, arguments.env, codes)
    result = {
        "suite": f"LLVM {llvm_version}'s libomp"
        + (", debug build" if arguments.debug_build else ""),
        "counts": summary.count(codes, regressions, unsteady, shared),
        "llvm": llvm_version,
        "compiler": ours.version,
        "build": "debug" if arguments.debug_build else "release",
        "environment": arguments.env,
        "seconds": round(time.monotonic() - start),
        "ours": collections.Counter(codes.values()),
        "stock": collections.Counter(stock_codes.values()),
        "fail_on_stock_too": shared,
        "unsteady": unsteady,
        "regressions": regressions,
    }
    print_result(result)
    if arguments.json:
        summary.write(arguments.json, result)
    return 1 if regressions else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: check(parse_arguments())))
