#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the barriers, their sleep and their hand-overs with a model checker: every execution that
a weak memory model allows.

    GENMC=/path/to/genmc tests/model_check/run.py --quick

1. Cases: each driver, with one shape, under RC11 and IMM. None may end in an error.
2. Mutants: each tagged access of the sources gets a weaker order, and some case must end in an
   error. Where none does, the order is not needed by these models; mutants.py must say why it
   stays.

GENMC is the built source tree of GenMC v0.9 (its src/genmc and include/), CLANGXX the clang++ of
the LLVM that it was built with (default: clang++-14). Neither is part of the project, which runs
without them. docs/results/model-checking.md says more.

Exit status: 0 all is as it should be, 1 it is not, 2 wrong usage or broken tools, 77 GENMC or
CLANGXX cannot be used.
"""

import argparse
import os
import pathlib
import re
import sys
import time

from cases import CASES
from checks import Workshop, check_cases, check_mutants
from genmc import CannotCompile, CannotRun, Genmc
import mutants
import report

SKIPPED = 77


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--list", action="store_true", help="print the cases and the tagged accesses, and end"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="short cases, and of each access the weakest mutant only",
    )
    parser.add_argument(
        "--part", choices=("cases", "mutants", "all"), default="all", help="default: all"
    )
    parser.add_argument(
        "--only",
        metavar="REGEX",
        help="only cases, or with --part mutants accesses, whose names match",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count(),
        help="explorations at a time; default: one per cpu",
    )
    parser.add_argument(
        "--timeout",
        type=int,
        default=600,
        metavar="SECONDS",
        help="for one exploration (default: 600)",
    )
    parser.add_argument(
        "--json", type=pathlib.Path, metavar="FILE", help="also write the results there"
    )
    parser.add_argument(
        "--markdown",
        type=pathlib.Path,
        metavar="FILE",
        help="also write the tables there, between the marks " "that FILE has for them",
    )
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs '{options.jobs}': must be at least 1")
    if options.timeout < 1:
        parser.error(f"--timeout '{options.timeout}': must be at least 1")
    try:
        options.only = re.compile(options.only or "")
    except re.error as problem:
        parser.error(f"--only '{options.only}': {problem}")
    return options


def select(options):
    """The cases to explore, the cases to try mutants on, and the accesses to weaken."""
    cases = [case for case in CASES if case.quick or not options.quick]
    killers = [case for case in cases if case.kills]
    sites = [site for site in mutants.all_sites() if site.weaker_orders()]
    if options.part == "cases":
        sites = []
    if options.part == "mutants":
        cases = []
        sites = [site for site in sites if options.only.search(site.name)]
    else:
        cases = [case for case in cases if options.only.search(case.name)]
        if options.only.pattern:
            sites = []
    if not cases and not sites:
        raise CannotRun(f"--only '{options.only.pattern}': no name matches; --list prints them all")
    return cases, killers, sites


def print_list():
    for case in CASES:
        print(f"{case.name:42} {case.about}{'' if case.quick else ' (not with --quick)'}")
    for site in mutants.all_sites():
        weaker = ", ".join(site.weaker_orders()) or "no mutant"
        print(f"{site.name:42} {site.source}:{site.line + 1}: {site.order} {site.kind}: {weaker}")


def run(options, genmc):
    cases, killers, sites = select(options)
    progress = report.Progress(genmc, options)
    workshop = Workshop(genmc, options.timeout)
    start = time.monotonic()
    try:
        case_results = check_cases(workshop, cases, options.jobs, progress.case)
        mutant_results = check_mutants(
            workshop, killers, sites, not options.quick, options.jobs, progress.mutant
        )
    finally:
        workshop.close()
    results = report.Results(genmc.version, case_results, mutant_results, time.monotonic() - start)
    if options.json:
        report.write_json(results, options.json)
    if options.markdown:
        report.write_markdown(results, options.markdown)
    problems = report.problems_of(results, whole=not options.quick)
    for problem in problems:
        print(f"FAILED: {problem}")
    print(report.summary(results, len(problems)))
    return 1 if problems else 0


def main():
    options = parse_arguments()
    if options.list:
        print_list()
        return 0
    try:
        genmc = Genmc()
    except CannotRun as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    try:
        return run(options, genmc)
    except (CannotCompile, CannotRun, mutants.BadTag) as problem:
        print(f"run.py: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
