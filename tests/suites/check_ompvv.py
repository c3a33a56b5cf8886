#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the OpenMP Validation and Verification suite on our libraries and fails when a test fails
there that passes on the unmodified one.

    OMPVV=~/OpenMP_VV check_ompvv.py --compiler clang --env KMP_BARRIER=hier
    OMPVV=~/OpenMP_VV check_ompvv.py --compiler gcc

1. Compile the suite's C, C++ and, for gcc, Fortran programs, without devices: target regions run
   on the host. A program that does not compile is counted as UNSUPPORTED, and the compiler's
   complaint is in the log. So is one of which Clang would ignore a clause: without `transparent`,
   for example, tasks race that the test believes to be in order.
2. Run each on ours with the given variables: on libomp if Clang compiled it, else on libgomp.so.1.
3. Compare with the unmodified library, as compare.py does: with LLVM's libomp of the same version
   (target stock_libomp), or with GCC's libgomp.

The suite is in no distribution: OMPVV names a checkout of it. Exit status: 0 no regression, 1
regression, 2 the comparison could not be made, 77 there is no suite or no compiler.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import summary
from compare import (
    CannotRun,
    StockResults,
    add_jobs_option,
    compare,
    exit_status,
    failed,
    make_suite_parser,
    parse_suite_options,
    print_differences,
    skip,
    without_our_barrier,
)

# By suffix: the compilers of each family. The first that exists is used.
COMPILERS = {
    "clang": {".c": ["clang-19", "clang"], ".cpp": ["clang++-19", "clang++"]},
    "gcc": {".c": ["gcc"], ".cpp": ["g++"], ".F90": ["gfortran"]},
}
WARNINGS = {"clang": ["-Wno-everything", "-Werror=extra-tokens"], "gcc": ["-w"]}
SKIPPED_BY_SUITE = 101  # the exit status of a program of the suite that finds nothing to test


def parse_arguments():
    parser = make_suite_parser(__doc__, stock="everything on the unmodified library")
    parser.add_argument("--compiler", choices=COMPILERS, default="clang", help="default: clang")
    parser.add_argument(
        "--filter", metavar="REGEX", default="", help="only tests whose names match"
    )
    add_jobs_option(parser, "compilers, and programs,")
    return parse_suite_options(parser)


# Programs that ask for what OpenMP does not promise, each with the reason. They are not run.
NOT_RUN = {
    "4.5/taskloop/test_taskloop_if.c": "it wants several of 1,000 threads to run 1,000 tasks of one"
    " store each; GCC's library lets one thread run them, too"
}


class Programs:
    """The suite's programs, compiled into the work directory. What is already there is not compiled
    again."""

    def __init__(self, source_dir, work_dir, compilers, warnings):
        self._source_dir = source_dir
        self._dir = work_dir
        self._compilers = compilers
        self._warnings = warnings

    def sources(self, pattern):
        """The names of the tests, relative to the suite's folder of tests."""
        folder = self._source_dir / "tests"
        names = (
            str(path.relative_to(folder))
            for path in sorted(folder.rglob("*"))
            if path.suffix in self._compilers
        )
        return [name for name in names if re.search(pattern, name)]

    def path(self, name):
        return self._dir / (name.replace("/", "+") + ".exe")

    def compile(self, name):
        """Returns whether it compiles. If not, the compiler's messages are beside its program."""
        program = self.path(name)
        complaint = program.with_suffix(".txt")
        if program.exists() or complaint.exists():
            return program.exists()
        source = self._source_dir / "tests" / name
        modules = program.with_suffix(".modules")
        command = [
            self._compilers[source.suffix],
            "-fopenmp",
            "-O1",
            *self._warnings,
            f"-I{self._source_dir / 'ompvv'}",
            str(source),
            "-o",
            str(program),
        ]
        if source.suffix == ".F90":
            modules.mkdir(exist_ok=True)
            command[1:1] = ["-ffree-line-length-none", f"-J{modules}"]
        result = subprocess.run([*command, "-lm"], capture_output=True, text=True, errors="replace")
        if result.returncode != 0:
            complaint.write_text(result.stderr)
        return result.returncode == 0


class OmpvvSuite:
    """A suite for compare.py: these programs with the library in one directory. None: with the one
    that the loader finds."""

    def __init__(self, name, version, work_dir, programs, tests, library_dir, arguments):
        self.name, self.version, self.work_dir = name, version, work_dir
        self._programs = programs
        self._tests = tests
        self._library_dir = library_dir
        self._arguments = arguments

    def _run_one(self, test, settings):
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OMP_", "KMP_", "GOMP_", "HIERBAR_"))
        }
        if self._library_dir:
            environment["LD_LIBRARY_PATH"] = str(self._library_dir)
        environment.update(setting.split("=", 1) for setting in settings)
        try:
            status = subprocess.run(
                [self._programs.path(test)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=self._arguments.timeout,
                cwd=self.work_dir,
            ).returncode
        except subprocess.TimeoutExpired:
            return "TIMEOUT"
        return {0: "PASS", SKIPPED_BY_SUITE: "SKIPPED"}.get(status, "FAIL")

    def run(self, settings, tests=None, quiet=False):
        tests = self._tests if tests is None else tests
        with concurrent.futures.ThreadPoolExecutor(self._arguments.jobs) as pool:
            codes = dict(zip(tests, pool.map(lambda test: self._run_one(test, settings), tests)))
        if not quiet:
            print(
                f"hierbar: {self.name}: {len(codes)} programs, {sum(map(failed, codes.values()))} failed",
                flush=True,
            )
        return codes


def find_suite():
    source_dir = os.environ.get("OMPVV", "")
    if not source_dir:
        skip("no OpenMP_VV suite; OMPVV names a checkout of it")
    source_dir = pathlib.Path(source_dir).resolve()
    if not (source_dir / "ompvv" / "ompvv.h").exists():
        raise CannotRun(f"OMPVV: '{source_dir}' has no ompvv/ompvv.h")
    return source_dir


def find_compilers(family):
    found = {}
    for suffix, names in COMPILERS[family].items():
        compiler = next(filter(None, map(shutil.which, names)), None)
        if compiler:
            found[suffix] = compiler
    if ".c" not in found:
        skip(f"no {' or '.join(COMPILERS[family]['.c'])}")
    return found


def libraries(arguments):
    """The directories of our library and of the unmodified one."""
    if arguments.compiler == "gcc":
        return arguments.build_dir / "lib", None
    target = subprocess.run(
        ["cmake", "--build", str(arguments.build_dir), "--target", "stock_libomp"],
        stdout=subprocess.DEVNULL,
    )
    if target.returncode != 0:
        raise CannotRun("the target stock_libomp cannot be built")
    return arguments.build_dir / "lib", arguments.build_dir / "stock" / "lib"


def check():
    arguments = parse_arguments()
    source_dir = find_suite()
    compilers = find_compilers(arguments.compiler)
    ours_dir, stock_dir = libraries(arguments)
    if not ours_dir.joinpath("libomp.so").exists():
        raise CannotRun(f"--build-dir: '{arguments.build_dir}' has no lib/libomp.so; build it")
    work_dir = arguments.build_dir / "suites" / f"ompvv-{arguments.compiler}"
    work_dir.mkdir(parents=True, exist_ok=True)
    programs = Programs(source_dir, work_dir, compilers, WARNINGS[arguments.compiler])
    for name, reason in NOT_RUN.items():
        print(f"hierbar: not run: {name}: {reason}")
    names = [name for name in programs.sources(arguments.filter) if name not in NOT_RUN]
    print(f"hierbar: compiling {len(names)} programs (some minutes the first time)", flush=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        compiled = dict(zip(names, pool.map(programs.compile, names)))
    tests = [name for name in names if compiled[name]]

    start = time.monotonic()
    # GCC's -dumpversion may be the major version only; Clang knows no other option.
    version = subprocess.run(
        [compilers[".c"], "-dumpfullversion", "-dumpversion"], capture_output=True, text=True
    ).stdout.strip()
    ours = OmpvvSuite("ours", version, work_dir, programs, tests, ours_dir, arguments)
    stock_suite = OmpvvSuite(
        f"ompvv-{arguments.compiler}-stock",
        version,
        work_dir,
        programs,
        tests,
        stock_dir,
        arguments,
    )
    stock = StockResults(stock_suite, without_our_barrier(arguments.env), {})
    if arguments.full_stock:
        stock.run()
    codes = ours.run(arguments.env)
    regressions, unsteady, shared = compare(ours, stock, arguments.env, codes)
    codes.update({name: "UNSUPPORTED" for name in names if not compiled[name]})
    counts = collections.Counter(codes.values())
    print(
        f"\nOpenMP_VV, {arguments.compiler} {version}, {' '.join(arguments.env) or 'no variables set'}, "
        f"{time.monotonic() - start:.0f} s\n  ours: "
        + ", ".join(f"{count} {code}" for code, count in sorted(counts.items()))
    )
    print_differences(regressions, unsteady, shared)
    if arguments.json:
        summary.write(
            arguments.json,
            {
                "suite": f"OpenMP_VV, {arguments.compiler}",
                "environment": arguments.env,
                "codes": codes,
                "regressions": regressions,
                "unsteady": unsteady,
                "fail_on_stock_too": shared,
                "counts": summary.count(codes, regressions, unsteady, shared),
            },
        )
    return 1 if regressions else 0


if __name__ == "__main__":
    sys.exit(exit_status(check))
