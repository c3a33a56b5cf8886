#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one MPI program under the shim and checks how it ended, what it said, and which way its
barriers went.

    run_mpi_test.py --ranks 4 --shim build/release/lib/libhierbar_mpi.so
        --count 'engine>=4000' -- program argument...

The program gets none of the caller's HIERBAR_ variables, but HIERBAR_VERBOSE=1,
HIERBAR_MPI_SET_UP_AT=1 (the engine also serves the first barriers of a communicator) and what --env
says. It is killed after --timeout seconds. A program that cannot run here says why and returns 77,
and so does this script.

Counts are per rank, summed over all ranks: "engine", "baseline", "library", and the reasons that
the report names, as "one rank"; "allreduces" are those of the engine, "library allreduces" the
others, and so for the other calls with data. Whatever the program does, nothing of the shim's may
be left under /dev/shm.
"""

import argparse
import collections
import operator
import re
import sys

import launcher

REPORT = re.compile(
    r"^hierbar: mpi: barriers of [^:]*: engine (\d+)(?:, baseline (\d+))?, library (\d+)(?: \((.*)\))?$",
    re.MULTILINE,
)
WITH_DATA = re.compile(
    r"^hierbar: mpi: (allreduces|bcasts|reduces|allgathers|alltoalls|gathers|scatters|"
    r"reduce-scatters) of [^:]*: "
    r"engine (\d+), library (\d+)$",
    re.MULTILINE,
)
REPORTED_RANKS = re.compile(r"^hierbar: mpi: barriers of (?:rank \d+|(\d+) ranks):", re.MULTILINE)
COUNT = re.compile(r"^([a-z -]+)(>=|<=|==)(\d+)$")
COMPARISONS = {">=": operator.ge, "<=": operator.le, "==": operator.eq}
SKIPPED = 77


def wanted_count(text):
    if not COUNT.match(text):
        raise argparse.ArgumentTypeError(
            f"'{text}': must be a way, then >=, <= or ==, then a number"
        )
    return text


def add_count_argument(parser):
    parser.add_argument(
        "--count", action="append", default=[], type=wanted_count, metavar="WAY(>=|<=|==)N"
    )


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    launcher.add_arguments(parser)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument(
        "--shim", help="the library to preload; without it the program runs as it is"
    )
    parser.add_argument("--preload", action="append", default=[], help="preloaded before the shim")
    parser.add_argument(
        "--preload-after", action="append", default=[], help="preloaded after the shim"
    )
    parser.add_argument(
        "--launch", action="append", default=[], metavar="OPTION", help="given to mpiexec"
    )
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument(
        "--timeout",
        type=float,
        default=60,
        help="seconds after which the program counts as hanging",
    )
    parser.add_argument("--hangs", action="store_true", help="it must hang")
    parser.add_argument(
        "--may-hang-at-end",
        action="store_true",
        help="it may hang in MPI_Finalize, after the reports of all ranks",
    )
    parser.add_argument(
        "--exit-code", default="0", help="what mpiexec must return: a number or 'any'"
    )
    parser.add_argument(
        "--expect", action="append", default=[], metavar="REGEX", help="exactly one line matches"
    )
    parser.add_argument(
        "--expect-some", action="append", default=[], metavar="REGEX", help="a line matches"
    )
    parser.add_argument(
        "--reject", action="append", default=[], metavar="REGEX", help="no line matches"
    )
    add_count_argument(parser)
    parser.add_argument("command", nargs="+", help="the program and its arguments")
    return parser.parse_args()


def make_command(arguments):
    preload = ":".join(
        arguments.preload + ([arguments.shim] if arguments.shim else []) + arguments.preload_after
    )
    settings = ["HIERBAR_VERBOSE=1", *arguments.env] + (
        [f"LD_PRELOAD={preload}"] if preload else []
    )
    return launcher.launch_command(
        arguments, arguments.ranks, settings, arguments.launch, arguments.command
    )


def run(arguments):
    """Returns the exit status, None after a timeout, and the output with the error output after it."""
    status, output, errors = launcher.run_to_end(
        make_command(arguments), launcher.launch_environment(arguments), arguments.timeout
    )
    return status, output + errors


def count_ways(output):
    counts = collections.Counter()
    for engine, baseline, library, reasons in REPORT.findall(output):
        counts["engine"] += int(engine)
        counts["baseline"] += int(baseline or 0)
        counts["library"] += int(library)
        for reason in filter(None, (reasons or "").split(", ")):
            way, number = reason.rsplit(" ", 1)
            counts[way] += int(number)
    for calls, engine, library in WITH_DATA.findall(output):
        counts[calls] += int(engine)
        counts[f"library {calls}"] += int(library)
    return counts


def check_counts(wanted_counts, counts):
    for wanted in wanted_counts:
        way, comparison, number = COUNT.match(wanted).groups()
        if not COMPARISONS[comparison](counts[way], int(number)):
            yield f"{way} {counts[way]}, expected {comparison} {number}"


def hangs_at_end(arguments, output):
    """A report is that of one rank, or of all."""
    num_reported = sum(int(ranks or 1) for ranks in REPORTED_RANKS.findall(output))
    return arguments.may_hang_at_end and num_reported == arguments.ranks


def find_problems(arguments, status, output):
    if status is None and hangs_at_end(arguments, output):
        print("it hung in MPI_Finalize")
    elif arguments.hangs != (status is None):
        yield "hangs" if status is None else "does not hang"
    elif status is not None and arguments.exit_code not in ("any", str(status)):
        yield f"exit status {status}, expected {arguments.exit_code}"
    lines = output.splitlines()
    for pattern in arguments.expect:
        matches = sum(re.search(pattern, line) is not None for line in lines)
        if matches != 1:
            yield f"{matches} lines match '{pattern}', expected 1"
    for pattern in arguments.expect_some:
        if not any(re.search(pattern, line) for line in lines):
            yield f"no line matches '{pattern}'"
    for pattern in arguments.reject:
        if any(re.search(pattern, line) for line in lines):
            yield f"a line matches '{pattern}'"
    yield from check_counts(arguments.count, count_ways(output))


def main():
    arguments = parse_arguments()
    before = launcher.segment_names()
    status, output = run(arguments)
    if status == SKIPPED:
        print(output, end="")
        return SKIPPED
    problems = list(find_problems(arguments, status, output))
    problems += [f"/dev/shm/{name} is left" for name in sorted(launcher.left_segment_names(before))]
    if problems:
        print(output)
        print("FAILED: " + "; ".join(problems))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
