# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MPICH's test suite: fetched, built with one family of MPI libraries by its own configure and make,
and the lists of its tests.

The lists are files called testlist. Each line is a test:

    program ranks [arg=TEXT]... [env=NAME=VALUE]... [mpiexecarg=TEXT]... [timeLimit=SECONDS]
            [resultTest=NAME]

Other words of a line (strict, xfail, mem) are for the tests' own runner, which selects by them.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess

from compare import CannotRun

FETCH = pathlib.Path(__file__).resolve().parent / "fetch_suite.sh"
AROUND = FETCH.with_name("barriers_around.c")
# The folders that are used: those whose programs have barriers, make and free communicators, have
# windows, threads or sessions, or make calls that must fail. Sessions are in init and threads/init.
FOLDERS = (
    "attr",
    "coll",
    "comm",
    "errhan",
    "errors/attr",
    "errors/coll",
    "errors/comm",
    "errors/group",
    "errors/topo",
    "group",
    "info",
    "init",
    "rma",
    "threads",
    "topo",
)
SUFFIXES = {"mpich": "mpich", "ompi": "openmpi"}
# Open MPI's header refuses functions that MPI 3 has removed. The suite still uses some of them, and
# Open MPI's library has them.
FLAGS = {"mpich": "", "ompi": "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"}


class Build:
    """The suite, built with a family. What was done is not done again, unless the compiler driver
    has changed."""

    def __init__(self, work_dir, family):
        self.source_dir = work_dir / "source"
        self.dir = work_dir / family
        self._state_dir = work_dir / "apt"
        self._log = self.dir / "build.log"
        self._flags = FLAGS[family]
        self._compiler = shutil.which(f"mpicc.{SUFFIXES[family]}")
        if not self._compiler:
            raise CannotRun(
                f"no mpicc.{SUFFIXES[family]}; Debian: {'libmpich-dev' if family == 'mpich' else 'libopenmpi-dev'}"
            )

    def make(self):
        fetched = subprocess.run(
            [FETCH, "--suite", "mpich", "--out", self.source_dir, "--state", self._state_dir]
        )
        if fetched.returncode != 0:
            raise CannotRun("MPICH's tests cannot be had")
        driver = (
            subprocess.run(
                [self._compiler, "-show"], capture_output=True, text=True, check=True
            ).stdout
            + self._flags
        )
        self._once("configured", driver, self._configure)
        self._once("compiled", driver, self._compile)

    def _once(self, step, driver, action):
        """Each step has its own stamp, so after an interruption only the rest is done again."""
        stamp = self.dir / step
        if not stamp.exists() or stamp.read_text() != driver:
            action()
            stamp.write_text(driver)

    def _configure(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        self.dir.mkdir(parents=True)
        print(f"hierbar: configuring MPICH's tests with {self._compiler} (a minute)", flush=True)
        command = [
            self.source_dir / "configure",
            "--disable-fortran",
            "--disable-cxx",
            "--disable-spawn",
            "--enable-threads=multiple",
            f"MPICC={self._compiler}",
            f"CC={self._compiler}",
            f"CPPFLAGS={self._flags}",
        ]
        with open(self._log, "w") as log:
            if (
                subprocess.run(
                    command, cwd=self.dir, stdout=log, stderr=subprocess.STDOUT
                ).returncode
                != 0
            ):
                raise CannotRun(f"{self.source_dir}/configure failed; see {self._log}")

    def _compile(self):
        """Some programs compile with MPICH only. So a failure is reported only as such a program,
        and reason() finds its cause."""
        print("hierbar: compiling them (2 minutes)", flush=True)
        jobs = ["-k", "-j", str(os.cpu_count())]
        with open(self._log, "a") as log:
            for folder in (
                "dtpools",
                "util",
                *dict.fromkeys(folder.split("/")[0] for folder in FOLDERS),
            ):
                subprocess.run(
                    ["make", *jobs, "-C", folder],
                    cwd=self.dir,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )

    def barriers_around(self):
        """The library of barriers_around.c, for this family."""
        library = self.dir / "libbarriers_around.so"
        command = [self._compiler, "-O2", "-fPIC", "-shared", str(AROUND), "-o", str(library)]
        if subprocess.run(command).returncode != 0:
            raise CannotRun(f"{AROUND} does not compile with {self._compiler}")
        return library

    def path(self, program):
        return self.dir / program

    def is_built(self, program):
        return self.path(program).is_file()

    def reason(self, program):
        """The first line in which the compiler or linker complains about a program that is
        missing."""
        name = re.escape(program.rsplit("/", 1)[1])
        pattern = re.compile(rf"{name}\.[co]\b.*(?:error|undefined reference)")
        with open(self._log, errors="replace") as log:
            return next(
                (line.strip() for line in log if pattern.search(line)),
                f"no message of {program} in {self._log}",
            )


@dataclasses.dataclass(frozen=True)
class Test:
    program: str  # with its folder, as "coll/allred"
    ranks: int
    arguments: tuple = ()
    variables: tuple = ()
    launch_options: tuple = ()
    seconds: int = 0  # its own time limit; 0: it has none
    must_fail: bool = False  # it passes if the launcher's exit status is not 0

    @property
    def name(self):
        return " ".join([self.program, str(self.ranks), *self.arguments, *self.variables])


def parse(line, folder, max_ranks, more_ranks):
    """Reads one line, for at most so many ranks. Most programs run with any number; those of
    `more_ranks` have their own maximum."""
    program, ranks, *rest = line.split()
    ranks = min(int(ranks), more_ranks.get(f"{folder}/{program}", max_ranks))
    values = {}
    for word in rest:
        key, _, value = word.partition("=")
        values.setdefault(key, []).append(value)
    kind = values.get("resultTest", [""])[0]
    return Test(
        f"{folder}/{program}",
        ranks,
        tuple(values.get("arg", ())),
        tuple(values.get("env", ())),
        tuple(values.get("mpiexecarg", ())),
        int(values.get("timeLimit", [0])[0]),
        kind in ("TestStatus", "TestErrFatal"),
    )


def read_folder(source_dir, build_dir, folder, max_ranks, more_ranks):
    """The tests of a folder, and of the folders below it that its list names. Lists that configure
    has made are in `build_dir`."""
    path = build_dir / folder / "testlist"
    if not path.exists():
        path = source_dir / folder / "testlist"
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if " " in line:
            yield parse(line, folder, max_ranks, more_ranks)
        elif line and (source_dir / folder / line).is_dir():
            yield from read_folder(source_dir, build_dir, f"{folder}/{line}", max_ranks, more_ranks)


def read(source_dir, build_dir, folders, max_ranks, more_ranks):
    """All tests by name. With fewer ranks than in the lists, some of them become the same."""
    return {
        test.name: test
        for folder in folders
        for test in read_folder(
            pathlib.Path(source_dir), pathlib.Path(build_dir), folder, max_ranks, more_ranks
        )
    }
