#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles programs in several ways and looks by which names reports call their barriers."""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


def line_of(source, remark):
    """The number of the line that ends with the remark."""
    for number, line in enumerate((PROGRAMS / source).read_text().splitlines(), 1):
        if re.search(rf"(//|!) {re.escape(remark)}$", line):
            return number
    raise KeyError(f"{source} has no line that ends with {remark!r}")


def place(function, source, remark):
    return f"{function} ({source}:{line_of(source, remark)})"


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = pathlib.Path(scratch.name)

    def run_in(self, *command, **variables):
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.directory,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
        )
        self.assertEqual(
            done.returncode, 0, f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}"
        )

    def compile(self, compiler, source, output, *options):
        self.run_in(*shlex.split(compiler), PROGRAMS / source, "-o", output, *options)

    def report(self, *command, form="json", **variables):
        self.run_in(
            ARGUMENTS.hierbar, "run", "--report", f"report.{form}", "--", *command, **variables
        )
        return (self.directory / f"report.{form}").read_text()

    def sites(self, *command, **variables):
        return json.loads(self.report(*command, **variables))["sites"]

    def names(self, *command, kind=None, **variables):
        return {
            site["site"]
            for site in self.sites(*command, **variables)
            if kind in (None, site["kind"])
        }


class OpenMP(Case):
    def check_c(self, program, jump):
        names = self.names(program)
        inlined = (
            place("relax", "sites.c", "inlined") + " in " + place("step", "sites.c", "inlines")
        )
        for expected in (
            inlined,
            place("step", "sites.c", "second"),
            place("step", "sites.c", "third"),
            jump,
            place("step", "sites.c", "region"),
        ):
            self.assertIn(expected, names)
        for name in names:
            self.assertRegex(
                name,
                r"^(relax|step|last|main) \(sites\.c:\d+\)",
                "a name of the library or an address",
            )

    def test_gcc(self):
        for number, options in enumerate(
            (["-g"], ["-gdwarf-4"], ["-g", "-gsplit-dwarf"], ["-g", "-no-pie"])
        ):
            with self.subTest(options=options):
                self.compile(
                    ARGUMENTS.gcc, "sites.c", f"sites{number}", "-O2", "-fopenmp", *options
                )
                self.check_c(f"./sites{number}", place("last", "sites.c", "jump"))

    def test_clang(self):
        for number, options in enumerate((["-g"], ["-g", "-gsplit-dwarf"])):
            with self.subTest(options=options):
                self.compile(
                    ARGUMENTS.clang, "sites.c", f"sites{number}", "-O2", "-fopenmp", *options
                )
                # Clang does not describe the jump, so it is the region's first line.
                self.check_c(f"./sites{number}", place("last", "sites.c", "last region"))

    def test_the_parts_in_json(self):
        self.compile(
            ARGUMENTS.gcc, "sites.c", "sites", "-O2", "-fopenmp", "-g", "-Wl,--build-id=0x0123abcd"
        )
        site = next(site for site in self.sites("./sites") if site["site"].startswith("relax"))
        frames = site["code"]["frames"]
        self.assertEqual(
            [(frame["function"], frame["line"]) for frame in frames],
            [("relax", line_of("sites.c", "inlined")), ("step", line_of("sites.c", "inlines"))],
        )
        self.assertEqual({frame["file"] for frame in frames}, {str(PROGRAMS / "sites.c")})
        self.assertEqual((site["code"]["object"], site["code"]["build_id"]), ("sites", "0123abcd"))
        self.assertGreater(int(site["code"]["address"], 16), 0)

    def test_other_forms(self):
        self.compile(ARGUMENTS.gcc, "sites.c", "sites", "-O2", "-fopenmp", "-g")
        expected = place("step", "sites.c", "second")
        self.assertIn(f"\n  {expected}, ", self.report("./sites", form="txt"))
        self.assertIn(f'"{expected}"', self.report("./sites", form="csv"))
        self.assertIn(expected, self.report("./sites", form="html"))
        self.run_in(ARGUMENTS.hierbar, "run", "--report", "r.trace.json", "--", "./sites")
        events = json.loads((self.directory / "r.trace.json").read_text())["traceEvents"]
        self.assertIn(
            expected, {event["args"]["site"] for event in events if "site" in event.get("args", {})}
        )

    def test_without_debug_information(self):
        self.compile(ARGUMENTS.gcc, "sites.c", "sites", "-O2", "-fopenmp")
        for name in self.names("./sites"):
            self.assertRegex(name, r"^(step|last|main)[\w.]*\+0x[0-9a-f]+ \(sites\)$")
        self.run_in("strip", "sites")
        for site in self.sites("./sites"):
            self.assertRegex(site["site"], r"^sites\+0x[0-9a-f]+$")
            self.assertEqual(site["site"], f"sites+{site['code']['address']}")

    def test_separate_debug_information(self):
        self.compile(
            ARGUMENTS.gcc, "sites.c", "sites", "-O2", "-fopenmp", "-g", "-Wl,--build-id=none"
        )
        self.run_in("objcopy", "--only-keep-debug", "sites", "sites.debug")
        self.run_in("strip", "sites")
        self.run_in("objcopy", "--add-gnu-debuglink=sites.debug", "sites")
        self.check_c("./sites", place("last", "sites.c", "jump"))
        (self.directory / ".debug").mkdir()
        (self.directory / "sites.debug").rename(self.directory / ".debug" / "sites.debug")
        self.check_c("./sites", place("last", "sites.c", "jump"))
        with (self.directory / ".debug" / "sites.debug").open(
            "ab"
        ) as other:  # another checksum: of another build
            other.write(b"\0")
        for name in self.names("./sites"):
            self.assertRegex(name, r"^sites\+0x[0-9a-f]+$")

    def test_no_server_is_asked(self):
        if not shutil.which("strace"):
            self.skipTest("no strace")
        self.compile(ARGUMENTS.gcc, "sites.c", "sites", "-O2", "-fopenmp", "-g", "-Wl,--build-id")
        self.run_in("strip", "sites")
        self.run_in(
            "strace",
            "-f",
            "-e",
            "trace=connect",
            "-o",
            "calls",
            ARGUMENTS.hierbar,
            "run",
            "--report",
            "report.json",
            "--",
            "./sites",
            DEBUGINFOD_URLS="http://127.0.0.1:9/",
        )
        self.assertNotIn("sin_port", (self.directory / "calls").read_text())

    def test_fortran(self):
        if not ARGUMENTS.fortran:
            self.skipTest("no gfortran")
        self.compile(ARGUMENTS.fortran, "sites.f90", "sites", "-g", "-O1", "-fopenmp")
        names = self.names("./sites", kind="implementation")
        self.assertEqual(
            names,
            {
                place("step", "sites.f90", "of a module"),
                place("plain", "sites.f90", "plain"),
                place("demo", "sites.f90", "of the program"),
            },
        )

    def test_a_library_that_is_gone(self):
        self.compile(ARGUMENTS.gcc, "loader.c", "loader")
        self.compile(
            ARGUMENTS.gcc,
            "plugin.c",
            "plugin.so",
            "-g",
            "-O1",
            "-fopenmp",
            "-shared",
            "-fPIC",
            "-Wl,--build-id",
        )
        self.compile(
            ARGUMENTS.gcc,
            "plugin.c",
            "other.so",
            "-g",
            "-O0",
            "-fopenmp",
            "-shared",
            "-fPIC",
            "-Wl,--build-id",
        )
        self.assertIn(place("work", "plugin.c", "library"), self.names("./loader", "./plugin.so"))
        # Its file is now of another build, whose lines are not those of the code that ran.
        for site in self.sites("./loader", "./plugin.so", "other.so"):
            self.assertEqual(site["site"], f"plugin.so+{site['code']['address']}")

    def test_python(self):
        include = pathlib.Path(sysconfig.get_paths()["include"])
        if not (include / "Python.h").exists():
            self.skipTest(f"no Python.h in {include}")
        self.compile(
            ARGUMENTS.gcc,
            "plugin.c",
            "plugin.so",
            "-g",
            "-O1",
            "-fopenmp",
            "-shared",
            "-fPIC",
            f"-I{include}",
            "-DHIERBAR_PYTHON_MODULE",
        )
        names = self.names(
            sys.executable, "-c", "import plugin; plugin.work()", PYTHONPATH=str(self.directory)
        )
        self.assertIn(place("work", "plugin.c", "library"), names)


class Mpi(Case):
    def barriers(self, launcher):
        names = self.names(
            *shlex.split(launcher),
            "-n",
            "2",
            "./ranks",
            kind="MPI_Barrier",
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_rmaps_base_oversubscribe="1",
        )
        return names

    def test_c(self):
        for compiler, _, launcher in ARGUMENTS.mpi:
            with self.subTest(compiler=compiler):
                self.compile(compiler, "ranks.c", "ranks", "-g", "-O2")
                inlined = (
                    place("exchange", "ranks.c", "inlined")
                    + " in "
                    + place("main", "ranks.c", "inlines")
                )
                self.assertEqual(
                    self.barriers(launcher), {inlined, place("main", "ranks.c", "second")}
                )

    def test_fortran(self):
        for _, compiler, launcher in ARGUMENTS.mpi:
            with self.subTest(compiler=compiler):
                if not compiler:
                    self.skipTest("no Fortran")
                self.compile(compiler, "ranks.f90", "ranks", "-g", "-O0")
                self.assertEqual(
                    self.barriers(launcher),
                    {
                        place("exchange", "ranks.f90", "subroutine"),
                        place("field", "ranks.f90", "program"),
                    },
                )


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hierbar", required=True, help="the hierbar command")
    parser.add_argument("--gcc", default="gcc")
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--fortran", default="", help="empty: none")
    parser.add_argument(
        "--mpi", nargs=3, action="append", default=[], metavar=("MPICC", "MPIFORT", "MPIEXEC")
    )
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
