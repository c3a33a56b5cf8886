#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests everything from the programs to the verdict without MPI: the programs are scripts, and
mpiexec is replaced by one.

The replacement runs one process with the variables that it was given. What a program does under the
shim depends on LD_PRELOAD. And how the tables of other people's benchmarks are judged.
"""

import argparse
import contextlib
import io
import json
import pathlib
import stat
import tempfile
import types
import unittest

import check_mpich
import mpi_comparison
from check_mpi_benchmarks import ImbBenchmarks, OsuBenchmarks, judge
from compare import CannotRun
from mpich_tests import Test

LAUNCHER = """#!/bin/sh
[ "$1" = --version ] && echo 'Version: 4.0.2' && exit
while [ "$1" = -genv ]; do
  [ "$2" = LD_PRELOAD ] && export SHIM="$3" || export "$2=$3"
  shift 3
done
shift 2
exec "$@"
"""
GOOD = "echo ' No Errors'"
REPORT = "[ $SHIM ] && echo 'hierbar: mpi: barriers of 2 ranks: engine 7, library 0' >&2\n" + GOOD
# Fails if there is a certain file, which the first run removes.
ONCE = "rm once 2>/dev/null && exit 1\n" + GOOD


class Comparison(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)
        self.make_script("mpiexec", LAUNCHER)

    def make_script(self, name, text):
        path = self.dir / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def compare(self, programs, known=(), count=(), timeout=30, **test_fields):
        arguments = argparse.Namespace(
            mpi="mpich",
            mpiexec=str(self.dir / "mpiexec"),
            env=["HIERBAR_X=1", "COMMON=1"],
            timeout=timeout,
            full_stock=False,
            around=False,
            count=list(count),
            json=self.dir / "result.json",
        )
        for name, text in programs.items():
            self.make_script(f"coll/{name}", text)
        tests = [Test(f"coll/{name}", 2, **test_fields) for name in programs]
        build = types.SimpleNamespace(path=lambda program: self.dir / program)
        suites = [
            check_mpich.MpichSuite(
                arguments, build, {test.name: test for test in tests}, self.dir, shim
            )
            for shim in ("shim.so", None)
        ]
        with contextlib.redirect_stdout(io.StringIO()):
            result = mpi_comparison.run("scripts", *suites, set(known), arguments)
            return mpi_comparison.finish(result, arguments), result

    def test_a_program_that_fails_under_the_shim_only_is_a_regression(self):
        status, result = self.compare({"a": "[ $SHIM ] && exit 1\n" + GOOD, "b": GOOD})
        self.assertEqual((status, list(result["regressions"])), (1, ["coll/a 2"]))
        self.assertEqual(
            json.loads((self.dir / "result.json").read_text())["counts"]["failed_with_ours_only"], 1
        )

    def test_a_program_that_hangs_under_the_shim_only_is_a_regression(self):
        status, result = self.compare({"a": "[ $SHIM ] && exec sleep 600\n" + GOOD}, timeout=3)
        self.assertEqual((status, result["regressions"]["coll/a 2"]["first"]), (1, "TIMEOUT"))

    def test_a_program_that_fails_once_is_unsteady(self):
        (self.dir / "coll").mkdir()
        (self.dir / "coll/once").touch()
        status, result = self.compare({"a": ONCE})
        self.assertEqual(
            (status, list(result["unsteady"]), result["regressions"]), (0, ["coll/a 2"], {})
        )

    def test_a_program_that_fails_without_the_shim_too_is_no_regression(self):
        status, result = self.compare(
            {"a": "exit 1", "b": "echo 'Found 3 errors'"}, known=["coll/b 2"]
        )
        self.assertEqual((status, result["fail_on_stock_too"]), (0, ["coll/a 2", "coll/b 2"]))

    def test_only_the_shim_gets_its_variables(self):
        variables = '[ "$COMMON" ] && [ "$HIERBAR_X" = "${SHIM:+1}" ] || exit 1\n'
        _, result = self.compare(
            {"a": variables + "[ ! $SHIM ] || exit 1\n" + GOOD, "b": variables + GOOD}
        )
        self.assertEqual(
            (list(result["regressions"]), result["fail_on_stock_too"]), (["coll/a 2"], [])
        )
        self.assertEqual(result["environment"], ["HIERBAR_X=1"])

    def test_a_test_has_its_arguments_and_variables(self):
        status, result = self.compare(
            {"a": '[ "$1$V" = xw ] || exit 1\n' + GOOD}, arguments=("x",), variables=("V=w",)
        )
        self.assertEqual((status, result["counts"]["passed"]), (0, 1))

    def test_the_barriers_that_the_shim_reports_are_added_up(self):
        _, result = self.compare({"a": REPORT, "b": REPORT}, count=["engine==14"])
        self.assertEqual(result["barriers"], {"engine": 14, "baseline": 0, "library": 0})

    def test_a_shim_without_barriers_cannot_be_compared(self):
        with self.assertRaises(CannotRun):
            self.compare({"a": GOOD}, count=["engine>=1"])


# ---- tables of benchmarks ----

OSU = """
# OSU MPI Allreduce Latency Test v7.2
# Datatype: MPI_INT.
# Size       Avg Latency(us)        Validation
4                       0.73              Pass
8                       0.52              {}
"""
IMB = """
#-----------------------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 2
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects
            0           20         8.05      7597.40      3802.72         0.00
            4           20         0.37         0.44         0.40         {}
"""


class BenchmarkTables(unittest.TestCase):
    def test_a_table_of_osu_is_right_if_every_size_passes(self):
        self.assertEqual(judge(OsuBenchmarks, "allreduce", 0, OSU.format("Pass")), "PASS")
        self.assertEqual(judge(OsuBenchmarks, "allreduce", 0, OSU.format("Fail")), "FAIL")

    def test_a_table_without_validation_is_not_right(self):
        self.assertEqual(judge(OsuBenchmarks, "allreduce", 0, OSU.format("")), "FAIL")

    def test_a_table_of_imb_is_right_if_nothing_has_a_defect(self):
        self.assertEqual(judge(ImbBenchmarks, "Allreduce", 0, IMB.format("0.00")), "PASS")
        self.assertEqual(judge(ImbBenchmarks, "Allreduce", 0, IMB.format("0.05")), "FAIL")

    def test_a_barrier_has_times_only(self):
        self.assertEqual(judge(OsuBenchmarks, "barrier", 0, "# Avg Latency(us)\n 1.25\n"), "PASS")

    def test_a_run_without_a_table_or_with_another_status_is_not_right(self):
        self.assertEqual(judge(OsuBenchmarks, "allreduce", 0, "nothing\n"), "FAIL")
        self.assertEqual(judge(OsuBenchmarks, "allreduce", 1, OSU.format("Pass")), "FAIL")

    def test_a_run_that_was_ended_hangs(self):
        self.assertEqual(judge(ImbBenchmarks, "Allreduce", None, IMB.format("0.00")), "TIMEOUT")


if __name__ == "__main__":
    unittest.main()
