#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whatever a program changes by the runtime's functions, the next region takes notice of it, lean
or not.

    setters_test.py --lib-dir build/release/lib build/release/tests/libomp/setters

Runs each change of the program with lean regions, without, and on LLVM's own barrier. All must
print the same. A function of the library that sets something and is none of the program's changes
is a failure.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import run_omp_test

SETTERS = re.compile(r"(omp|kmp)_(set|pause|control|init_allocator)[a-z_]*")
# Locks, and what only the library itself calls.
OTHERS = {"omp_set_lock", "omp_set_nest_lock", "kmp_set_thread_affinity_mask_initial"}
# By default omp_set_dynamic() makes the size of a team depend on the load of the machine.
COMMON = [
    "OMP_CANCELLATION=true",
    "KMP_WARNINGS=0",
    "KMP_DYNAMIC_MODE=thread_limit",
    "KMP_BLOCKTIME=200ms",
]  # the defaults differ
SETTINGS = {
    "lean": [],
    "HIERBAR_REGION=off": ["HIERBAR_REGION=off"],
    "LLVM's barrier": ["KMP_BARRIER", "HIERBAR_VERBOSE"],
}
LEAN_BEFORE = 5  # of the regions before the change


def exported_setters(library):
    symbols = subprocess.run(
        ["nm", "--dynamic", "--defined-only", library],
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    ).stdout
    names = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
    return {name for name in names if SETTERS.fullmatch(name) and not name.endswith("_")} - OTHERS


def run(program, change, lib_dir, settings):
    environment = run_omp_test.make_environment(lib_dir, [*COMMON, *settings])
    return subprocess.run(
        [program, change],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
    )


def problem_of(program, change, lib_dir):
    results = {name: run(program, change, lib_dir, settings) for name, settings in SETTINGS.items()}
    outputs = {name: (result.returncode, result.stdout) for name, result in results.items()}
    if len(set(outputs.values())) != 1 or not results["lean"].stdout:
        return "\n".join(
            f"--- {name}: status {code}\n{text}" for name, (code, text) in outputs.items()
        )
    lean = sum(int(count) for count, _ in run_omp_test.REGIONS.findall(results["lean"].stderr))
    return "" if lean >= LEAN_BEFORE else f"only {lean} regions were lean\n{results['lean'].stderr}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lib-dir", type=pathlib.Path, required=True, help="where libomp.so is")
    parser.add_argument("program")
    arguments = parser.parse_args()
    environment = run_omp_test.make_environment(arguments.lib_dir, [])
    listed = subprocess.run(
        [arguments.program, "--list"],
        env=environment,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    ).stdout.split()
    failures = [
        f"{name}: the program does not try it"
        for name in sorted(exported_setters(arguments.lib_dir / "libomp.so") - set(listed))
    ]
    for change in listed:
        if problem := problem_of(arguments.program, change, arguments.lib_dir):
            failures.append(f"{change}:\n{problem}")
    print(
        "\n".join(failures)
        if failures
        else f"{len(listed)} changes: the same with and without lean regions"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
