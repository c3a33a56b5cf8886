#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tests that depend on how many cpus are free many times, alone and beside a process that
computes.

    steady.py [BUILD_DIR] [--alone 200] [--beside 50] [--tests REGEX] [--minutes 170] [--list]

These are the tests that ctest runs serially and those of label `timed`, but for the labels `long`,
`stress`, `model` and `guest`, which repeat by themselves. Each is run once at first. The shortest
ones then run as often as asked for; what takes longer runs less often, so that all of them end
within --minutes. The numbers are printed. Nothing else should run meanwhile.

Exit status: 0 each test passed every time, 1 some did not, 2 no test matched. A test that cannot
run here is named, and no fault.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
REPEAT_THEMSELVES = {"long", "stress", "model", "guest"}
# How much longer a test takes beside a busy process, on two cpus.
BESIDE_FACTOR = 2


def find_tests(build, pattern):
    found = json.loads(
        subprocess.run(
            ["ctest", "--show-only=json-v1"], cwd=build, check=True, stdout=subprocess.PIPE
        ).stdout
    )
    for test in found["tests"]:
        properties = {item["name"]: item["value"] for item in test.get("properties", [])}
        labels = set(properties.get("LABELS", []))
        if (
            (properties.get("RUN_SERIAL") or "timed" in labels)
            and not REPEAT_THEMSELVES & labels
            and re.search(pattern, test["name"])
        ):
            yield test["name"]


def run(build, name, times):
    """ "passed", "skipped" or "FAILED", and what ctest printed."""
    done = subprocess.run(
        [
            "ctest",
            "-R",
            f"^{re.escape(name)}$",
            "--repeat",
            f"until-fail:{times}",
            "--output-on-failure",
        ],
        cwd=build,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode != 0 or "No tests were found" in done.stdout:
        return "FAILED", done.stdout
    return ("skipped" if "(Skipped)" in done.stdout else "passed"), done.stdout


def run_beside(build, name, times):
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        return run(build, name, times)
    finally:
        busy.kill()
        busy.wait()


def times_within(seconds, single, alone, beside):
    """How often a test of `single` seconds runs alone and beside another process, to end within
    `seconds`.
    """
    share = min(1, seconds / max(single * (alone + BESIDE_FACTOR * beside), 1e-9))
    return max(1, int(alone * share)), max(1, int(beside * share))


def repeat(build, name, counts):
    """Whether it passed every time."""
    for how, function, times in [
        ("alone", run, counts[0]),
        ("beside a busy process", run_beside, counts[1]),
    ]:
        start = time.monotonic()
        outcome, output = function(build, name, times)
        runs = f"{times} times" if outcome == "passed" else f"in one of {times} runs"
        print(f"{name}: {outcome} {runs} {how}, {time.monotonic() - start:.0f} s", flush=True)
        if outcome != "passed":
            print(output, flush=True)
            return False
    return True


def run_once(build, names):
    """Seconds of each test that passed, and the names of those that did not, and of those that
    cannot run here.
    """
    seconds, failed, skipped = {}, [], []
    for name in names:
        start = time.monotonic()
        outcome, output = run(build, name, 1)
        if outcome == "passed":
            seconds[name] = time.monotonic() - start
        else:
            print(f"{name}: {outcome} in its first run", flush=True)
            if outcome == "FAILED":
                print(output, flush=True)
            (failed if outcome == "FAILED" else skipped).append(name)
    return seconds, failed, skipped


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "build",
        nargs="?",
        type=pathlib.Path,
        default=ROOT / "build" / "release",
        help="default: build/release",
    )
    parser.add_argument(
        "--alone",
        type=int,
        default=200,
        help="runs of each test with nothing beside it (default: 200)",
    )
    parser.add_argument(
        "--beside", type=int, default=50, help="runs beside a process that computes (default: 50)"
    )
    parser.add_argument("--tests", default="", metavar="REGEX", help="only tests whose names match")
    parser.add_argument(
        "--minutes", type=float, default=170, help="how long all of it may take (default: 170)"
    )
    parser.add_argument(
        "--list", action="store_true", help="print the names of the tests and run none"
    )
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    names = list(find_tests(arguments.build, arguments.tests))
    if not names:
        print(
            f"steady.py: no serial or timed test of {arguments.build} matches --tests '{arguments.tests}'",
            file=sys.stderr,
        )
        return 2
    if arguments.list:
        print("\n".join(names))
        return 0
    seconds, failed, skipped = run_once(arguments.build, names)
    # What a short test leaves of its share is for the longer ones behind it.
    order = sorted(seconds, key=seconds.get)
    for i, name in enumerate(order):
        left = max(0, end - time.monotonic()) / (len(order) - i)
        if not repeat(
            arguments.build,
            name,
            times_within(left, seconds[name], arguments.alone, arguments.beside),
        ):
            failed.append(name)
    print(
        f"{len(names) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} cannot run here"
        + (f": {', '.join(skipped)}" if skipped else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
