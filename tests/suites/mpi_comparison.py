# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the commands for suites of MPI programs have in common: arguments, the comparison and the
exit status."""

import collections
import pathlib
import signal
import sys
import time

import summary
from compare import (
    CannotRun,
    StockResults,
    compare,
    exit_status,
    make_suite_parser,
    parse_suite_options,
    print_differences,
)

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "mpi"))
import launcher
import run_mpi_test

SHIMS = {"mpich": "libhierbar_mpi.so", "ompi": "libhierbar_mpi_ompi.so"}


def make_parser(description):
    parser = make_suite_parser(description, each="launch", stock="everything without the shim")
    launcher.add_arguments(parser)
    parser.add_argument(
        "--shim", type=pathlib.Path, help="default: the one of the family in the build directory"
    )
    run_mpi_test.add_count_argument(parser)
    return parser


def parse(parser, words=None):
    arguments = parse_suite_options(parser, words)
    arguments.shim = (
        arguments.shim or arguments.build_dir / "lib" / SHIMS[arguments.mpi]
    ).resolve()
    if arguments.count:
        arguments.env.append("HIERBAR_VERBOSE=1")  # so that the shim's reports have the counts
    if not arguments.shim.exists():
        parser.error(f"--shim '{arguments.shim}': there is no such file; build it")
    return arguments


def without_ours(settings):
    """The settings for the unmodified library, which does not use HIERBAR_ variables."""
    return [setting for setting in settings if not setting.startswith("HIERBAR_")]


def run(title, ours, stock_suite, known_fails, arguments):
    """Steps 1 to 3 of compare.py. Returns the result, for finish()."""
    start = time.monotonic()
    stock = StockResults(stock_suite, without_ours(arguments.env), known_fails)
    stock_codes = stock.run() if arguments.full_stock else {}
    codes = ours.run(arguments.env)
    # Without our barriers a library would be compared with itself, and nothing would be found.
    ways = dict(ours.ways)
    problems = list(run_mpi_test.check_counts(arguments.count, ours.ways))
    if problems:
        raise CannotRun(
            f"{ours.name}: the shim's barriers did not go the ways that they should: {'; '.join(problems)}"
        )
    regressions, unsteady, shared = compare(ours, stock, arguments.env, codes)
    return {
        "suite": title,
        "counts": summary.count(codes, regressions, unsteady, shared),
        "library": ours.version,
        "environment": [
            setting for setting in arguments.env if setting not in without_ours(arguments.env)
        ],
        "seconds": round(time.monotonic() - start),
        "barriers": ways,
        "ours": collections.Counter(codes.values()),
        "stock": collections.Counter(stock_codes.values()),
        "codes": codes,
        "fail_on_stock_too": shared,
        "unsteady": unsteady,
        "regressions": regressions,
    }


def finish(result, arguments):
    """Prints a result, writes it, and returns the exit status."""
    print(
        f"\n{result['suite']}, {' '.join(result['environment']) or 'no variables set'}, {result['seconds']} s"
    )
    for who in ("ours", "stock"):
        if result[who]:
            print(
                f"  {who}: "
                + ", ".join(f"{count} {code}" for code, count in sorted(result[who].items()))
            )
    if result["barriers"]:
        print(
            "  barriers: "
            + ", ".join(f"{way} {count}" for way, count in sorted(result["barriers"].items()))
        )
    print_differences(result["regressions"], result["unsteady"], result["fail_on_stock_too"])
    if arguments.json:
        summary.write(arguments.json, result)
    return 1 if result["regressions"] else 0


def main(check):
    """As exit_status() of compare.py."""
    # So that a running program is ended as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    return exit_status(check)
