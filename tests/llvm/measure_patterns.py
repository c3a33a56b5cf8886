#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what LLVM's patterns of barriers cost, with the one that
runtime/libomp/patches/llvm-fixes/rfc adds.

    measure_patterns.py                  # about 3 minutes; nothing else should run meanwhile

Builds rfc_libomp and measure_patterns.c. All patterns take turns inside every repetition, each in a
process of its own, so what disturbs the machine disturbs all of them. A figure is the median over
the repetitions. The ratio to hyper, LLVM's default, is the median of the repetitions' ratios, with
their quartiles in brackets.
"""

import argparse
import collections
import os
import pathlib
import statistics
import subprocess
import sys

import check_libomp
import check_upstream
import lit_runner
from compare import exit_status

SOURCE = pathlib.Path(__file__).with_suffix(".c")
PATTERNS = ["hyper", "exchange", "linear", "tree", "hierarchical", "dist"]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build-dir",
        type=pathlib.Path,
        default=check_upstream.ROOT / "build/release",
        help="default: build/release",
    )
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[2, 4], help="sizes of teams (default: 2 4)"
    )
    parser.add_argument(
        "--patterns", nargs="+", default=PATTERNS, choices=PATTERNS, help="default: all"
    )
    parser.add_argument("--reps", type=int, default=20, help="repetitions (default: 20)")
    parser.add_argument("--blocktime", metavar="MS", help="KMP_BLOCKTIME; default: not set")
    arguments = parser.parse_args()
    arguments.build_dir = arguments.build_dir.resolve()
    if "hyper" not in arguments.patterns:
        arguments.patterns.insert(0, "hyper")
    return arguments


def compile_program(build_dir):
    library = check_upstream.Libraries(build_dir).build("rfc")
    clang = pathlib.Path(lit_runner.read_cmake_cache(build_dir, "HIERBAR_LLVM_TOOLS_DIR")) / "clang"
    program = build_dir / "check-libomp" / "measure_patterns"
    program.parent.mkdir(exist_ok=True)
    subprocess.run(
        [clang, "-O2", "-fopenmp", SOURCE, "-o", program, f"-L{library}", f"-Wl,-rpath,{library}"],
        check=True,
    )
    return program


def run(program, pattern, threads, blocktime):
    """{construct: ns}"""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("KMP_", "OMP_"))
    }
    kinds = ("PLAIN",) if pattern == "exchange" else ("PLAIN", "FORKJOIN", "REDUCTION")
    environment.update({f"KMP_{kind}_BARRIER_PATTERN": f"{pattern},{pattern}" for kind in kinds})
    fits = threads <= os.cpu_count()
    if fits:
        environment.update(OMP_PLACES="cores", OMP_PROC_BIND="close")
    if blocktime:
        environment["KMP_BLOCKTIME"] = blocktime
    output = subprocess.run(
        [program, str(threads), "2000" if fits else "100"],
        env=environment,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        timeout=120,
    ).stdout
    return {name: float(value) for name, value in (line.split() for line in output.splitlines())}


def measure(arguments):
    program = compile_program(arguments.build_dir)
    for threads in arguments.threads:
        samples = collections.defaultdict(list)  # (construct, pattern)
        for rep in range(arguments.reps):
            order = (
                arguments.patterns[rep % len(arguments.patterns) :]
                + arguments.patterns[: rep % len(arguments.patterns)]
            )
            for pattern in order:
                for construct, ns in run(program, pattern, threads, arguments.blocktime).items():
                    samples[construct, pattern].append(ns)
        print(f"\n{threads} threads, ns", flush=True)
        for construct in dict.fromkeys(construct for construct, _ in samples):
            for pattern in arguments.patterns:
                ratios = [
                    ns / base
                    for ns, base in zip(samples[construct, pattern], samples[construct, "hyper"])
                ]
                low, middle, high = statistics.quantiles(ratios, n=4)
                print(
                    f"  {construct:17} {pattern:13} {statistics.median(samples[construct, pattern]):9.0f}   "
                    f"{middle:.2f} [{low:.2f}, {high:.2f}]"
                )
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: measure(parse_arguments())))
