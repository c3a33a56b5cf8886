#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs other people's benchmarks of MPI collectives, which check their results, under our shim, and
fails when one is wrong there that is right without.

    check_mpi_benchmarks.py osu --mpi ompi --env HIERBAR_MPI=collectives
    check_mpi_benchmarks.py imb --mpi mpich --ranks 2,4

    osu  OSU micro-benchmarks, with data validation (-c)
    imb  IMB-MPI1 of the Intel MPI Benchmarks, built with its checks (-DCHECK)

1. Fetch the sources (fetch_suite.sh) and build them with the family's compiler driver.
2. Run each collective at each number of ranks, with 0 or 1 byte to 8 KiB, under the shim with the
   given variables. A benchmark is right if every line of its table says so. Their times are not
   used.
3. Compare with the library without the shim, as compare.py does.

Exit status: 0 no regression, 1 regression, 2 the comparison could not be made, 77 the sources or a
compiler cannot be had.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import mpi_comparison
from compare import CannotRun, skip
from mpi_suite import MpiSuite
from mpich_tests import SUFFIXES

FETCH = pathlib.Path(__file__).resolve().parent / "fetch_suite.sh"
OSU_CALLS = ("allgather", "allreduce", "alltoall", "barrier", "bcast", "gather", "reduce")
OSU_CALLS += ("reduce_scatter", "scatter")
IMB_CALLS = ("Allgather", "Allreduce", "Alltoall", "Barrier", "Bcast", "Gather", "Reduce")
IMB_CALLS += ("Reduce_scatter_block", "Scatter")
MOST_BYTES_LOG = 13

# A line of a table: the bytes first, or for barriers a time, and nothing but words and numbers.
ROW = re.compile(r"^\s*[0-9.]+(\s+[0-9.]+)*(\s+(Pass|Fail))?\s*$")


class OsuBenchmarks:
    """How the OSU micro-benchmarks are built and run, and what their tables say."""

    title = "OSU micro-benchmarks"
    calls = OSU_CALLS

    @staticmethod
    def build(directory, compilers):
        yield ["./configure", f"CC={compilers[0]}", f"CXX={compilers[1]}"], directory
        yield ["make", "-j2"], directory / "c" / "mpi" / "collective" / "blocking"

    @staticmethod
    def command(directory, call, _):
        program = directory / "c" / "mpi" / "collective" / "blocking" / f"osu_{call}"
        sizes = [] if call == "barrier" else ["-c", "-T", "all", "-m", f"1:{1 << MOST_BYTES_LOG}"]
        return [str(program), "-i", "20", "-x", "5", *sizes]

    @staticmethod
    def is_right(call, rows):
        return call == "barrier" or all(row[-1] == "Pass" for row in rows)


class ImbBenchmarks:
    """The same of IMB-MPI1."""

    title = "Intel MPI Benchmarks"
    calls = IMB_CALLS

    @staticmethod
    def build(directory, compilers):
        yield [
            "make",
            "-j2",
            "TARGET=MPI1",
            f"CC={compilers[0]}",
            f"CXX={compilers[1]}",
            "CPPFLAGS=-DCHECK",
        ], directory / "src_cpp"

    @staticmethod
    def command(directory, call, ranks):
        return [
            str(directory / "src_cpp" / "IMB-MPI1"),
            *("-npmin", str(ranks), "-iter", "20", "-iter_policy", "off", "-time", "2"),
            *("-msglog", f"0:{MOST_BYTES_LOG}", call),
        ]

    @staticmethod
    def is_right(call, rows):
        """The last column counts what is wrong, but a barrier has no data."""
        return call == "Barrier" or all(float(row[-1]) == 0 for row in rows)


BENCHMARKS = {"osu": OsuBenchmarks, "imb": ImbBenchmarks}


def judge(benchmark, call, status, output):
    """The code of a run that ended like this."""
    if status is None:
        return "TIMEOUT"
    rows = [line.split() for line in output.splitlines() if ROW.match(line)]
    return "PASS" if status == 0 and rows and benchmark.is_right(call, rows) else "FAIL"


class BenchmarkSuite(MpiSuite):
    def __init__(self, arguments, directory, tests, work_dir, shim):
        super().__init__(f"{arguments.benchmark}-{arguments.mpi}", arguments, work_dir, shim)
        self.tests = tests
        self._benchmark = BENCHMARKS[arguments.benchmark]
        self._directory = directory

    def launch(self, tests, settings):
        name = tests[0]
        call, ranks = self.tests[name]
        command = self._benchmark.command(self._directory, call, ranks)
        status, output = self.run_program(
            name, command, ranks, settings, self._arguments.timeout, (), self.work_dir
        )
        return {name: judge(self._benchmark, call, status, output)}


def make(arguments, work_dir):
    """The directory in which the benchmark was built; it is built once for each family."""
    compilers = [shutil.which(f"{name}.{SUFFIXES[arguments.mpi]}") for name in ("mpicc", "mpicxx")]
    if not all(compilers):
        skip(f"no mpicc.{SUFFIXES[arguments.mpi]} and mpicxx.{SUFFIXES[arguments.mpi]}")
    directory = work_dir / arguments.mpi
    if (directory / "built").exists():
        return directory
    shutil.rmtree(directory, ignore_errors=True)
    fetch = [FETCH, "--suite", arguments.benchmark, "--out", directory]
    if subprocess.run([*fetch, "--state", work_dir / "state"]).returncode != 0:
        skip(f"the sources of the {BENCHMARKS[arguments.benchmark].title} cannot be had")
    log_path = directory / "build.log"
    with open(log_path, "w") as log:
        for command, where in BENCHMARKS[arguments.benchmark].build(directory, compilers):
            print(f"hierbar: {' '.join(command[:2])} in {where}", flush=True)
            ended = subprocess.run(command, cwd=where, stdout=log, stderr=subprocess.STDOUT)
            if ended.returncode != 0:
                raise CannotRun(f"{' '.join(command)} failed; see {log_path}")
    (directory / "built").touch()
    return directory


def check():
    parser = mpi_comparison.make_parser(__doc__)
    parser.add_argument("benchmark", choices=BENCHMARKS)
    parser.add_argument(
        "--ranks", default="2,3,4,5", metavar="N,...", help="numbers of ranks (default: 2,3,4,5)"
    )
    arguments = mpi_comparison.parse(parser)
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", arguments.ranks):
        parser.error(f"--ranks '{arguments.ranks}': must be numbers with commas between them")
    work_dir = arguments.build_dir / "suites" / arguments.benchmark
    work_dir.mkdir(parents=True, exist_ok=True)
    directory = make(arguments, work_dir)
    benchmark = BENCHMARKS[arguments.benchmark]
    tests = {
        f"{call} {ranks}": (call, int(ranks))
        for ranks in arguments.ranks.split(",")
        for call in benchmark.calls
    }
    ours = BenchmarkSuite(arguments, directory, tests, work_dir, arguments.shim)
    stock = BenchmarkSuite(arguments, directory, tests, work_dir, None)
    title = f"{benchmark.title} on {ours.version}, results only"
    return mpi_comparison.finish(mpi_comparison.run(title, ours, stock, {}, arguments), arguments)


if __name__ == "__main__":
    sys.exit(mpi_comparison.main(check))
