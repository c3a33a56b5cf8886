#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random OpenMP programs under random settings on the libomp.so under test, and on an
unpatched library what fails there.

    fuzz_tasks.py --lib-dir build/release/lib --stock-dir build/release/stock/lib --seconds 600 \\
        build/release/tests/libomp/task_fuzzer
    fuzz_tasks.py ... --seed 1234 --runs 1                             # a run again
    fuzz_tasks.py ... --seed 1234 --runs 1 --settings 'KMP_BARRIER=hier KMP_BLOCKTIME=0'

A run is one process with --programs programs. Its seed decides on the programs and, without
--settings, on the variables and on which of the given programs is run: task_fuzzer, or
task_fuzzer_gcc, which GCC compiled. Schedules differ between runs.

A run that fails is repeated --tries times on the unpatched library under the same variables without
KMP_BARRIER. When that fails in the same way, the failure is not ours and is counted apart;
runtime/libomp/UPSTREAM.md describes the ones that we know. What GCC compiled needs names that the
unpatched library does not have, so task_fuzzer then runs there.

Exit status: 0 no failure of ours, 1 a failure, 2 nothing could be run.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

OPENMP_VARIABLES = ("OMP_", "KMP_", "GOMP_", "LIBOMP_", "HIERBAR_")
# cpus 0 and 1 under different L3 caches: teams of more than four get trees.
TREES = {
    "HIERBAR_TOPOLOGY": "l3:2 core:2 pu:1(indexes=0,2,1,3)",
    "OMP_PLACES": "{0},{1}",
    "OMP_PROC_BIND": "close",
}
# Each setting is drawn on its own; None leaves the variable unset. Not OMP_WAIT_POLICY=passive: any
# libomp then forgets to wake the threads that an event's fulfilment has work for.
SETTINGS = {
    "KMP_BARRIER": ["hier", "hier", "hier", None],
    "KMP_BLOCKTIME": [None, None, "0", "1", "200", "infinite"],
    "OMP_WAIT_POLICY": [None, None, "active"],
    "OMP_PLACES": [None, None, "cores", "threads"],
    "KMP_HOT_TEAMS_MAX_LEVEL": [None, "1", "2", "3"],
    "OMP_CANCELLATION": ["true", None, None],
    "OMP_MAX_TASK_PRIORITY": [None, "5"],
    "HIERBAR_RELEASE": [None, None, "lines"],
    "HIERBAR_LEVELS": [None, None, None, "l3"],
}

Ending = collections.namedtuple("Ending", "failed code output")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--lib-dir", type=pathlib.Path, required=True, help="where the libomp.so under test is"
    )
    parser.add_argument(
        "--stock-dir", type=pathlib.Path, required=True, help="where an unpatched libomp.so is"
    )
    parser.add_argument(
        "--seconds", type=float, default=30, help="begin no run after that time (default: 30)"
    )
    parser.add_argument("--runs", type=int, help="how many runs, whatever time they take")
    parser.add_argument(
        "--seed", type=int, help="of the first run; the others follow (default: random)"
    )
    parser.add_argument(
        "--settings",
        metavar="'NAME=VALUE ...'",
        help="the variables of all runs, in place of random ones",
    )
    parser.add_argument(
        "--programs", type=int, default=20, help="programs in one run (default: 20)"
    )
    parser.add_argument(
        "--tries",
        type=int,
        default=20,
        help="runs on the unpatched library for a failure (default: 20)",
    )
    parser.add_argument(
        "--hang-after", type=int, default=30, help="seconds that one program may take (default: 30)"
    )
    parser.add_argument(
        "--json", type=pathlib.Path, metavar="FILE", help="also write the result there"
    )
    parser.add_argument(
        "binaries",
        nargs="+",
        type=pathlib.Path,
        metavar="PROGRAM",
        help="task_fuzzer, task_fuzzer_gcc",
    )
    arguments = parser.parse_args()
    for setting in (arguments.settings or "").split():
        if "=" not in setting:
            parser.error(f"--settings: '{setting}': must be NAME=VALUE")
    for directory in (arguments.lib_dir, arguments.stock_dir):
        if not (directory / "libomp.so").exists():
            parser.error(f"no libomp.so in {directory}")
    if arguments.seed is None:
        arguments.seed = random.randrange(1, 10**9)
    return arguments


def draw_settings(source):
    drawn = {name: source.choice(values) for name, values in SETTINGS.items()}
    settings = {name: value for name, value in drawn.items() if value is not None}
    if source.randrange(3) == 0:
        settings.update(TREES)
    return settings


def plan_run(arguments, seed):
    """Which program a run executes, and under which variables."""
    source = random.Random(seed)
    binary = source.choice(arguments.binaries)
    settings = draw_settings(source)
    if arguments.settings is not None:
        settings = dict(setting.split("=", 1) for setting in arguments.settings.split())
    return binary, settings


def execute(arguments, binary, seed, settings, library_dir):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(OPENMP_VARIABLES)
    }
    environment.update(settings, LD_LIBRARY_PATH=str(library_dir.resolve()))
    command = [
        str(binary.resolve()),
        "--seed",
        str(1 + seed * arguments.programs),
        "--programs",
        str(arguments.programs),
        "--hang-after",
        str(arguments.hang_after),
    ]
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    return Ending(done.returncode != 0, done.returncode, done.stdout)


def kind_of(ending):
    """What a program that failed says of it, without the place: 'a program hangs', say."""
    said = re.search(r"^seed \d+: (?:node \d+ \([^)]*\): )?(.*)", ending.output, re.MULTILINE)
    return said.group(1).strip() if said else f"exit code {ending.code}"


def fails_on_stock(arguments, binary, seed, settings, ending):
    """Whether the unpatched library fails like that in one of --tries runs."""
    without_hier = {name: value for name, value in settings.items() if name != "KMP_BARRIER"}
    binary = binary.with_name(binary.name.removesuffix("_gcc"))
    runs = (
        execute(arguments, binary, seed, without_hier, arguments.stock_dir)
        for _ in range(arguments.tries)
    )
    return any(run.failed and kind_of(run) == kind_of(ending) for run in runs)


def describe(binary, seed, settings):
    values = " ".join(f"{name}='{value}'" for name, value in sorted(settings.items()))
    return f"run {seed}: {binary.name} under {values or 'no variables'}"


def fuzz(arguments):
    start = last_report = time.monotonic()
    passed, failures, stock_failures = 0, [], []
    seed = arguments.seed
    while (
        (seed - arguments.seed < arguments.runs)
        if arguments.runs
        else (time.monotonic() - start < arguments.seconds)
    ):
        binary, settings = plan_run(arguments, seed)
        ending = execute(arguments, binary, seed, settings, arguments.lib_dir)
        if not ending.failed:
            passed += 1
        else:
            on_stock = fails_on_stock(arguments, binary, seed, settings, ending)
            (stock_failures if on_stock else failures).append(
                {
                    "seed": seed,
                    "program": binary.name,
                    "settings": settings,
                    "code": ending.code,
                    "output": ending.output[-20000:],
                }
            )
            kind = "fails on the unpatched library too" if on_stock else "FAILED"
            print(
                f"{kind}: {describe(binary, seed, settings)}: exit code {ending.code}", flush=True
            )
            print(ending.output[:1000] if on_stock else ending.output[-20000:], flush=True)
        seed += 1
        if time.monotonic() - last_report >= 10:
            last_report = time.monotonic()
            print(f"{last_report - start:.0f} s: {seed - arguments.seed} runs", flush=True)
    return {
        "first_seed": arguments.seed,
        "runs": seed - arguments.seed,
        "programs": (seed - arguments.seed) * arguments.programs,
        "seconds": round(time.monotonic() - start),
        "passed": passed,
        "failed": failures,
        "failed_on_stock_too": stock_failures,
    }


def main():
    arguments = parse_arguments()
    missing = [str(binary) for binary in arguments.binaries if not binary.exists()]
    if missing:
        print(f"hierbar: error: there is no {', '.join(missing)}", file=sys.stderr)
        return 2
    print(f"first seed {arguments.seed}, {arguments.programs} programs a run", flush=True)
    result = fuzz(arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    print(
        f"{result['runs']} runs in {result['seconds']} s, {len(result['failed_on_stock_too'])} failed on the unpatched library too"
    )
    print(f"{result['passed']} passed, {len(result['failed'])} failed")
    return 1 if result["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
