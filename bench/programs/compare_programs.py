#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times programs of others, and two with small inputs, on our libomp, on the unmodified one and on
GCC's libgomp.

    compare_programs.py --epcc epcc-openmp-microbenchmarks/openmpbench_C_v31 --npb NPB3.0-omp-C

  epcc                 syncbench and schedbench of github.com/EPCCed/epcc-openmp-microbenchmarks
  npb                  CG and MG, class S, of github.com/edeiana/NPB3.0-omp-C
  conjugate_gradient   vectors of 100 to 10,000 elements, a region for each loop
  primecount           the primes up to 1e10 to 1e12, counted by Debian's libprimecount7

1. Each program is built by Clang and by GCC. What cannot be built here is left out, which is said.
2. In each round all runtimes run each program, one after the other, in turns from both ends.
   Programs that Clang built do not run on libgomp.
3. The ratios are those of the runs of one round; printed are their median and quartiles. Of stock's
   barrier patterns the one with the lowest median is compared.

All are bound to cores where the threads have one each. Run it on a quiet machine.

Exit status: 0 done, 1 with --check: a figure takes more than that ratio of stock's, 2 nothing was
measured or a program failed.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import programs
from programs import Failed, Missing
from ratios import OURS, rows_of, text_of

TIMEOUT_S = 300  # of one run
LIMIT = 1.05  # what is pointed out as a loss
FAMILIES = ("OMP_", "KMP_", "GOMP_", "HIERBAR_")  # variables of the runtimes


@dataclasses.dataclass(frozen=True)
class Runtime:
    name: str
    library_dir: pathlib.Path  # None: the one that the loader finds
    settings: dict

    def environment(self, threads):
        result = {
            name: value for name, value in os.environ.items() if not name.startswith(FAMILIES)
        }
        result.pop("LD_LIBRARY_PATH", None)
        result["OMP_NUM_THREADS"] = str(threads)
        if threads <= len(os.sched_getaffinity(0)):
            result["OMP_PLACES"] = "cores"
        if self.library_dir:
            result["LD_LIBRARY_PATH"] = str(self.library_dir)
        return result | self.settings


def pattern_settings(pattern):
    return {
        f"KMP_{kind}_BARRIER_PATTERN": f"{pattern},{pattern}"
        for kind in ("PLAIN", "FORKJOIN", "REDUCTION")
    }


def runtimes_for(compiler, arguments):
    stock_dir = arguments.build_dir / "stock" / "lib"
    result = [
        Runtime(OURS, arguments.build_dir / "lib", {"KMP_BARRIER": "hier"}),
        Runtime("stock", stock_dir, {}),
    ]
    result += [
        Runtime(f"stock-{pattern}", stock_dir, pattern_settings(pattern))
        for pattern in arguments.stock_pattern
    ]
    if compiler == "gcc":
        result.append(Runtime("libgomp", None, {}))
    return result


def check_library(program, runtime, threads):
    """A program that was linked to a library by its path would compare it with itself."""
    listing = subprocess.run(
        ["ldd", program.binary], env=runtime.environment(threads), capture_output=True, text=True
    ).stdout
    found = re.search(
        r"lib(?:omp|gomp|iomp5)\.so\S* => (\S+)/[^/]+$",
        re.sub(r" \(0x.*\)", "", listing),
        re.MULTILINE,
    )
    if found is None:
        raise Failed(f"{program.title}: '{program.binary}' loads no OpenMP library")
    if runtime.library_dir and pathlib.Path(found[1]).resolve() != runtime.library_dir.resolve():
        raise Failed(f"{program.title}: loads the library in '{found[1]}', not {runtime.name}'s")


def run_once(program, runtime, threads):
    """The program's figures; of several runs the medians."""
    runs = []
    for _ in range(program.repeats):
        try:
            result = subprocess.run(
                program.command,
                env=runtime.environment(threads),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            raise Failed(
                f"{program.title} on {runtime.name}: not done after {TIMEOUT_S} s"
            ) from None
        if result.returncode != 0:
            what = f"{program.title} on {runtime.name}: status {result.returncode}"
            raise Failed(f"{what}: {result.stderr.strip()[-400:]}")
        runs.append(program.read(result.stdout))
    return {figure: sorted(run[figure] for run in runs)[len(runs) // 2] for figure in runs[0]}


def build(arguments, work_dir):
    found = []
    for name, make in programs.ALL.items():
        for compiler in arguments.compiler:
            try:
                found += make(getattr(arguments, name, None), work_dir, compiler)
            except Missing as reason:
                print(f"left out: {name}, {compiler}: {reason}")
    return [program for program in found if re.search(arguments.only, program.title)]


def measure(chosen, arguments):
    """{program: {runtime: the figures of each round}}"""
    runtimes = {program: runtimes_for(program.compiler, arguments) for program in chosen}
    samples = {program: {runtime.name: [] for runtime in runtimes[program]} for program in chosen}
    for program in chosen:
        for runtime in runtimes[program]:
            check_library(program, runtime, arguments.threads)
    for turn in range(arguments.rounds):
        for program in chosen:
            for runtime in runtimes[program][:: -1 if turn % 2 else 1]:
                samples[program][runtime.name].append(run_once(program, runtime, arguments.threads))
        print(f"round {turn + 1} of {arguments.rounds} done", file=sys.stderr, flush=True)
    return samples


def machine():
    model = re.search(
        r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE
    )
    return f"{model[1] if model else 'unknown processor'}, {len(os.sched_getaffinity(0))} cpus"


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build-dir",
        type=pathlib.Path,
        default=pathlib.Path("build/release"),
        help="with lib and, by the target stock_libomp, stock/lib (default: build/release)",
    )
    parser.add_argument(
        "--epcc",
        type=pathlib.Path,
        metavar="DIR",
        help="has syncbench.c and schedbench.c, of version 3.1 or 4.0",
    )
    parser.add_argument("--npb", type=pathlib.Path, metavar="DIR", help="has CG and MG")
    parser.add_argument(
        "--compiler", choices=programs.COMPILERS, action="append", help="repeatable (default: both)"
    )
    parser.add_argument(
        "--stock-pattern",
        metavar="NAME",
        action="append",
        default=[],
        help="also run stock with this one of its barrier patterns, as 'linear'; repeatable",
    )
    parser.add_argument("--threads", type=int, default=2, help="default: 2")
    parser.add_argument("--rounds", type=int, default=9, help="default: 9")
    parser.add_argument(
        "--only",
        metavar="REGEX",
        default="",
        help="only programs whose names match, as 'npb cg, gcc'",
    )
    parser.add_argument(
        "--check",
        type=float,
        metavar="RATIO",
        help=f"fail above this ratio (default: none; above {LIMIT} is shown)",
    )
    parser.add_argument(
        "--json",
        type=pathlib.Path,
        metavar="FILE",
        help="also write the values of all rounds there",
    )
    arguments = parser.parse_args()
    for name, least in (("threads", 1), ("rounds", 2)):
        if getattr(arguments, name) < least:
            parser.error(f"--{name} '{getattr(arguments, name)}': must be at least {least}")
    arguments.compiler = arguments.compiler or list(programs.COMPILERS)
    return arguments


def compare(arguments):
    with tempfile.TemporaryDirectory() as work_dir:
        chosen = build(arguments, pathlib.Path(work_dir))
        if not chosen:
            raise Failed("nothing to measure")
        samples = measure(chosen, arguments)
    print(
        f"{machine()}; {arguments.threads} threads, {arguments.rounds} rounds; "
        f"ratios of {OURS} to the others: median [quartiles]"
    )
    limit = arguments.check or LIMIT
    losses = 0
    for program, by_runtime in samples.items():
        print(program.title)
        for row in rows_of(program, by_runtime):
            print(text_of(row, limit))
            losses += row.is_loss(limit)
    print(f"{losses} figures above {limit:.2f} of stock")
    if arguments.json:
        arguments.json.write_text(
            json.dumps(
                {
                    "machine": machine(),
                    "threads": arguments.threads,
                    "programs": {
                        program.title: {"unit": program.unit, "rounds": by_runtime}
                        for program, by_runtime in samples.items()
                    },
                },
                indent=1,
            )
        )
    return 1 if arguments.check and losses else 0


def main():
    try:
        return compare(parse_arguments())
    except Failed as problem:
        print(f"compare_programs.py: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
