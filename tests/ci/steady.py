#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tests that depend on how many cpus are free many times, alone and beside a process that computes.

    steady.py [BUILD_DIR] [--alone 200] [--beside 50] [--tests REGEX] [--longest SECONDS]

These are the tests that ctest runs serially, but for the labels `long`, `stress`, `model` and `guest`, which repeat by themselves. A
test that takes longer than --longest in its first run is run a tenth as often. Nothing else should run meanwhile.

Exit status: 0 each test passed every time, 1 some did not, 2 no test matched.
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


def find_tests(build, pattern):
    found = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, stdout=subprocess.PIPE).stdout)
    for test in found["tests"]:
        properties = {item["name"]: item["value"] for item in test.get("properties", [])}
        if properties.get("RUN_SERIAL") and not REPEAT_THEMSELVES & set(properties.get("LABELS", [])) and re.search(pattern, test["name"]):
            yield test["name"]


def run(build, name, times):
    """Whether it passed each time, and what ctest printed."""
    done = subprocess.run(["ctest", "-R", f"^{re.escape(name)}$", "--repeat", f"until-fail:{times}", "--output-on-failure"], cwd=build,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode == 0, done.stdout


def run_beside(build, name, times):
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        return run(build, name, times)
    finally:
        busy.kill()
        busy.wait()


def check(build, name, arguments):
    start = time.monotonic()
    is_fine, output = run(build, name, 1)
    divisor = 10 if time.monotonic() - start > arguments.longest else 1
    runs = [("alone", run, max(1, arguments.alone // divisor)), ("beside a busy process", run_beside, max(1, arguments.beside // divisor))]
    for how, function, times in runs:
        if is_fine:
            is_fine, output = function(build, name, times)
        print(f"{name}: {'passed' if is_fine else 'FAILED'} {times} times {how}, {time.monotonic() - start:.0f} s", flush=True)
        if not is_fine:
            print(output, flush=True)
            return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build" / "release", help="default: build/release")
    parser.add_argument("--alone", type=int, default=200, help="runs of each test with nothing beside it (default: 200)")
    parser.add_argument("--beside", type=int, default=50, help="runs beside a process that computes (default: 50)")
    parser.add_argument("--tests", default="", metavar="REGEX", help="only tests whose names match")
    parser.add_argument("--longest", type=float, default=8, metavar="SECONDS", help="of a test that runs that often (default: 8)")
    arguments = parser.parse_args()
    names = list(find_tests(arguments.build, arguments.tests))
    if not names:
        print(f"steady.py: no serial test of {arguments.build} matches --tests '{arguments.tests}'", file=sys.stderr)
        return 2
    results = [check(arguments.build, name, arguments) for name in names]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
