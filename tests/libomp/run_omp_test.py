#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one OpenMP program on the libomp.so under test and checks how it ended and what it said.

    run_omp_test.py --lib-dir build/release/lib --env OMP_PLACES=cores --counter 'fast>=1000' \\
        -- program argument...

The program gets none of the caller's OpenMP variables, but KMP_BARRIER=hier, HIERBAR_VERBOSE=1 and
what --env says; --env NAME removes a variable. A program that hangs ends after --timeout seconds;
the stacks of its threads are shown when gdb is there.

A program that cannot run here says why and returns 77, and so does this script.

Counters are those of the last lines that HIERBAR_VERBOSE=1 prints, summed over all processes that
print them:
    fast  slow  phased ("gather and release")  stock  reports (how many such lines)
    lean  ordinary (regions)
"""

import argparse
import collections
import operator
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

REPORT = re.compile(
    r"^OMP: hierbar: episodes: fast (\d+), slow (\d+), gather and release (\d+), stock (\d+)$",
    re.MULTILINE,
)
REGIONS = re.compile(r"^OMP: hierbar: regions: lean (\d+), ordinary (\d+)", re.MULTILINE)
COUNTER = re.compile(r"^(fast|slow|phased|stock|reports|lean|ordinary)(>=|<=|==)(\d+)$")
COMPARISONS = {">=": operator.ge, "<=": operator.le, "==": operator.eq}
OPENMP_VARIABLES = ("OMP_", "KMP_", "GOMP_", "LIBOMP_", "HIERBAR_")
SKIPPED = 77
KEPT_VARIABLES = ("HIERBAR_STRESS_SECONDS", "HIERBAR_STRESS_SEED")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--lib-dir",
        type=pathlib.Path,
        required=True,
        help="where libomp.so and its other names are",
    )
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="set or remove a variable",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=30,
        help="seconds after which the program counts as hanging",
    )
    parser.add_argument(
        "--exit-code", type=int, default=0, help="what the program must return (default: 0)"
    )
    parser.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="REGEX",
        help="exactly one line of stderr matches",
    )
    parser.add_argument(
        "--expect-some",
        action="append",
        default=[],
        metavar="REGEX",
        help="a line of the output matches",
    )
    parser.add_argument(
        "--reject",
        action="append",
        default=[],
        metavar="REGEX",
        help="no line of the output matches",
    )
    parser.add_argument(
        "--counter",
        action="append",
        default=[],
        metavar="NAME(>=|<=|==)N",
        help="about the episodes",
    )
    parser.add_argument(
        "--repeat",
        type=int,
        default=1,
        help="run that often; the standard output must be the same each time",
    )
    parser.add_argument(
        "--emulator",
        default="",
        metavar="COMMAND",
        help="what runs the program, which is of another machine",
    )
    parser.add_argument(
        "--beside",
        metavar="none|FILE",
        help="run on a copy of libomp.so that has FILE for libhierbar.so, or none",
    )
    parser.add_argument("command", nargs="+", help="the program and its arguments")
    arguments = parser.parse_args()
    for counter in arguments.counter:
        if not COUNTER.match(counter):
            parser.error(
                f"--counter '{counter}': must be one of fast, slow, phased, stock, reports, lean, ordinary, then >=, <= or ==, "
                "then a number"
            )
    return arguments


def make_environment(lib_dir, settings):
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(OPENMP_VARIABLES) or name in KEPT_VARIABLES
    }
    environment.update(LD_LIBRARY_PATH=str(lib_dir), KMP_BARRIER="hier", HIERBAR_VERBOSE="1")
    for setting in settings:
        name, has_value, value = setting.partition("=")
        if has_value:
            environment[name] = value
        else:
            environment.pop(name, None)
    return environment


def copy_library(lib_dir, beside, directory):
    """A directory with a copy of libomp.so. A link would not do: libomp.so looks beside the file
    that it really is.
    """
    shutil.copy(lib_dir / "libomp.so", directory / "libomp.so")
    (directory / "libomp.so.5").symlink_to("libomp.so")
    if beside != "none":
        shutil.copy(beside, directory / "libhierbar.so")
    return directory


def show_stacks(pid):
    gdb = shutil.which("gdb")
    if gdb is None:
        print("(no gdb: no stacks)")
        return
    commands = [
        "set print frame-arguments none",
        "set print frame-info short-location",
        "thread apply all backtrace 20",
    ]
    try:
        stacks = subprocess.run(
            [gdb, "--batch", "-nx", "-p", str(pid)]
            + [word for c in commands for word in ("-ex", c)],
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=60,
        ).stdout
    except subprocess.TimeoutExpired:
        print("(gdb did not end: no stacks)")
        return
    # Inside a condition variable every thread looks the same.
    frames = (
        line[:150]
        for line in stacks.splitlines()
        if re.match(r"Thread |#", line) and "pthread" not in line
    )
    print("\n".join(line for line in frames if "futex" not in line)[:12000])


Ending = collections.namedtuple("Ending", "code stdout stderr")


def run(command, environment, timeout):
    """Runs the program in a process group of its own. Files instead of pipes: a child that outlives
    it must not keep us here.
    """
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            print(f"hangs: not ended after {timeout:g} s")
            show_stacks(process.pid)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
        texts = []
        for file in (stdout, stderr):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        return Ending(code, *texts)


def read_counters(stderr):
    reports = REPORT.findall(stderr)
    sums = [sum(int(report[i]) for report in reports) for i in range(4)]
    regions = REGIONS.findall(stderr)
    return dict(
        zip(("fast", "slow", "phased", "stock"), sums),
        reports=len(reports),
        lean=sum(int(lean) for lean, _ in regions),
        ordinary=sum(int(ordinary) for _, ordinary in regions),
    )


def find_problems(arguments, ending):
    if ending.code is None:
        return ["it hangs"]
    problems = []
    if ending.code != arguments.exit_code:
        problems.append(f"exit code {ending.code} instead of {arguments.exit_code}")
    error_lines = ending.stderr.splitlines()
    lines = ending.stdout.splitlines() + error_lines
    for regex in arguments.expect:
        found = sum(1 for line in error_lines if re.search(regex, line))
        if found != 1:
            problems.append(f"{found} lines of stderr match '{regex}' instead of 1")
    problems += [
        f"no line matches '{regex}'"
        for regex in arguments.expect_some
        if not any(re.search(regex, line) for line in lines)
    ]
    problems += [
        f"a line matches '{regex}'"
        for regex in arguments.reject
        if any(re.search(regex, line) for line in lines)
    ]
    counters = read_counters(ending.stderr)
    for wanted in arguments.counter:
        name, comparison, number = COUNTER.match(wanted).groups()
        if not COMPARISONS[comparison](counters[name], int(number)):
            problems.append(f"{name} is {counters[name]}, not {comparison} {number}")
    return problems


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as scratch:
        lib_dir = arguments.lib_dir.resolve()
        if arguments.beside:
            lib_dir = copy_library(lib_dir, arguments.beside, pathlib.Path(scratch))
        environment = make_environment(lib_dir, arguments.env)
        first = None
        for _ in range(arguments.repeat):
            ending = run(
                shlex.split(arguments.emulator) + arguments.command, environment, arguments.timeout
            )
            if ending.code == SKIPPED:
                print(ending.stdout)
                return SKIPPED
            first = first or ending
            problems = find_problems(arguments, ending)
            if ending.stdout != first.stdout:
                problems.append(
                    f"the standard output differs between two runs; the first said\n{first.stdout}"
                )
            if problems:
                print("command:", " ".join(arguments.command))
                print("variables:", " ".join(arguments.env))
                print(
                    "--- standard output ---",
                    ending.stdout[-60000:],
                    "--- standard error ---",
                    ending.stderr[-60000:],
                    sep="\n",
                )
                print("FAILED: " + "\nFAILED: ".join(problems))
                return 1
        print(ending.stdout[-2000:] + ending.stderr[-2000:], end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
