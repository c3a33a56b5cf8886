#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs as people have them with and without hierbar, by `hierbar compare`, and makes a
table of it.

    program_table.py --list             the programs, and what is missing of them
    program_table.py --install          measures all, and installs first what is missing
    program_table.py --only numba --pairs 2 --markdown table.md

Each program runs in four settings. With OpenMP alone: with as many threads as cpus, with twice as
many, beside a process that keeps one cpu busy, and as two processes at once. With MPI: cpus x 1,
1 x cpus and 2 x cpus ranks and threads, and twice as many ranks as cpus.

The result of each setting is kept below BUILD/programs/results as soon as it is there. A later call
measures only what is missing, what failed, what was compared in another way, and what depends on
something that has changed: BUILD's command and libraries, the program, its input, variables of the
environment. The table is made of all that is kept and asked for.

Nothing is installed without --install. That puts wheels into virtual environments below
BUILD/programs, and installs Debian packages if it runs as root.

Run it on a quiet machine.

Exit status: 0 done, 1 a program failed or gave other results, or with --check: there is a loss,
2 wrong arguments, 77 none of the programs is here.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import sys
import time

import kept_results
import program_report
import program_rows
import program_settings
from compare_programs import machine
from program_rows import Problem

FAILED, WRONG, SKIPPED = 1, 2, 77


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build-dir",
        type=pathlib.Path,
        default=pathlib.Path("build/release"),
        help="has bin/hierbar; results and installed programs go there (default: build/release)",
    )
    parser.add_argument(
        "--hierbar", type=pathlib.Path, help="the command (default: that of --build-dir)"
    )
    parser.add_argument(
        "--list", action="store_true", help="print the programs and measure nothing"
    )
    parser.add_argument("--install", action="store_true", help="install what is missing")
    parser.add_argument("--group", metavar="NAME", help="only programs of this group")
    parser.add_argument(
        "--only", metavar="REGEX", default="", help="only programs whose names match"
    )
    parser.add_argument(
        "--setting",
        metavar="NAME",
        action="append",
        help=f"only this one of {', '.join(program_settings.SETTING_NAMES)}; repeatable",
    )
    parser.add_argument(
        "--pairs", type=int, help="pairs of runs (default: as many as fit into --time-limit)"
    )
    parser.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=float,
        default=120,
        help="for all pairs of a setting, if --pairs does not say how many (default: 120)",
    )
    parser.add_argument("--again", action="store_true", help="measure also what is kept")
    parser.add_argument("--check", action="store_true", help="fail if there is a loss")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there, too")
    parser.add_argument("--json", metavar="FILE", help="write the figures of the table there")
    parser.add_argument("--plot", metavar="FILE", help="draw the table; needs matplotlib")
    return parser, parser.parse_args()


def complete(parser, arguments):
    """What follows from the arguments."""
    if arguments.pairs is not None and arguments.pairs < 1:
        parser.error(f"--pairs '{arguments.pairs}': must be at least 1")
    build_dir = arguments.build_dir.resolve()
    arguments.hierbar = (arguments.hierbar or build_dir / "bin" / "hierbar").resolve()
    arguments.places = build_dir / "programs"
    arguments.results = arguments.places / "results"
    arguments.cpus = len(os.sched_getaffinity(0))
    if not arguments.list and not os.access(arguments.hierbar, os.X_OK):
        parser.error(f"--hierbar: no command '{arguments.hierbar}'; build it, or name another one")
    arguments.build = kept_results.digests_of_build(arguments.hierbar)


def choose_rows(parser, arguments):
    rows = program_rows.read_rows(program_rows.ROWS, arguments.places)
    groups = sorted({row.group for row in rows})
    if arguments.group and arguments.group not in groups:
        parser.error(f"--group '{arguments.group}': allowed: {', '.join(groups)}")
    try:
        chosen = [row for row in rows if re.search(arguments.only, row.name)]
    except re.error as fault:
        parser.error(f"--only '{arguments.only}': {fault}")
    chosen = [row for row in chosen if arguments.group in (None, row.group)]
    if not chosen:
        names = ", ".join(row.name for row in rows)
        parser.error(f"--only '{arguments.only}': no program matches; there are {names}")
    return chosen


def check_settings(parser, rows, arguments):
    names = {
        setting.name
        for row in rows
        for setting in program_settings.settings_of(arguments.cpus, row.mpi)
    }
    for name in arguments.setting or []:
        if name not in names:
            parser.error(f"--setting '{name}': allowed: {', '.join(sorted(names))}")


def choose_settings(row, arguments):
    settings = program_settings.settings_of(arguments.cpus, row.mpi)
    return [
        setting for setting in settings if setting.name in (arguments.setting or [setting.name])
    ]


def print_list(rows):
    for row in rows:
        here = program_rows.is_here(row)
        print(f"{row.group:12} {row.name:16} {row.title}{'' if here else ': missing'}")
        for line in [] if here else program_rows.what_to_install(row):
            print(f"{'':29} {line}")


def say(text):
    print(text, file=sys.stderr, flush=True)


def find_present(rows, arguments):
    """Those that can run. Of the others it is said how to get them."""
    present = []
    for row in rows:
        if arguments.install:
            try:
                program_rows.install(row)
            except Problem as problem:
                say(f"not installed: {problem}")
        if program_rows.is_here(row):
            present.append(row)
        else:
            say(f"missing: {row.name}: {'; '.join(program_rows.what_to_install(row))}")
    return present


def collect(rows, arguments):
    """Measures what is missing. Returns ({(program, setting): result}, whether some failed)."""
    results, todo, has_failed = {}, [], False
    for row in rows:
        for setting in choose_settings(row, arguments):
            kept = None if arguments.again else kept_results.kept_result(row, setting, arguments)
            if kept:
                results[row.name, setting.name] = kept
            else:
                todo.append((row, setting))
    if results:
        say(f"{len(results)} settings are kept from earlier")
    start = time.monotonic()
    for number, (row, setting) in enumerate(todo, start=1):
        begun = time.monotonic()
        try:
            program_rows.prepare(row)
            result = program_settings.measure(row, setting, arguments)
            kept_results.keep_result(result, row, setting, arguments)
            results[row.name, setting.name] = result
            words = result["said"].splitlines()[0].removeprefix("hierbar compare: ")
        except Problem as problem:
            has_failed, words = True, str(problem)
        now = time.monotonic()
        left = (now - start) / number * (len(todo) - number) / 60
        say(
            f"[{number} of {len(todo)}] {row.name}, {setting.title}: {words}; {now - begun:.0f} s, "
            f"about {left:.0f} min left"
        )
    return results, has_failed


def write_reports(tables, arguments):
    page = program_report.page_of(tables, machine())
    print(page, end="")
    if arguments.markdown:
        pathlib.Path(arguments.markdown).write_text(page)
    if arguments.json:
        document = {"machine": machine(), "tables": [table.as_json() for table in tables]}
        pathlib.Path(arguments.json).write_text(json.dumps(document, indent=1) + "\n")
    if arguments.plot:
        try:
            program_report.draw(tables, arguments.plot)
        except ImportError:
            say("--plot: no matplotlib (Debian: python3-matplotlib); nothing is drawn")


def main():
    parser, arguments = parse_arguments()
    complete(parser, arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        rows = choose_rows(parser, arguments)
    except Problem as problem:
        parser.error(str(problem))
    check_settings(parser, rows, arguments)
    if arguments.list:
        return print_list(rows)
    present = find_present(rows, arguments)
    if not present:
        print("skipped: none of the programs is here; --list says what to install")
        return SKIPPED
    results, has_failed = collect(present, arguments)
    tables = program_report.tables_of(present, results, arguments.cpus)
    write_reports(tables, arguments)
    losses = sum(table.num_losses() for table in tables)
    print(f"\n{len(results)} settings of {len(present)} programs, {losses} losses")
    has_failed = has_failed or any(table.has_failed() for table in tables)
    return FAILED if has_failed or (arguments.check and losses) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
