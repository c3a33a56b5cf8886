# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of GCC's tests of libgomp: which there are, and how each is compiled.

A program is called by its folder and file, as in libgomp.c/loop-1.c. Those of the folder
libgomp.c-c++-common are compiled twice, as C and as C++, and called c-c++-common as C/for-1.c.
What is compiled stays in the work directory.
"""

import pathlib
import shutil
import subprocess

import directives

# A folder of tests: what its programs' names begin with, their language, and their suffixes.
FOLDERS = (
    ("libgomp.c", "libgomp.c", "c", {".c"}),
    ("libgomp.c-c++-common", "c-c++-common as C", "c", {".c"}),
    ("libgomp.c-c++-common", "c-c++-common as C++", "c++", {".c"}),
    ("libgomp.c++", "libgomp.c++", "c++", {".C", ".cc"}),
    (
        "libgomp.fortran",
        "libgomp.fortran",
        "fortran",
        {".f", ".F", ".f90", ".F90", ".f03", ".F03", ".f08", ".F08"},
    ),
)
COMPILERS = {"c": "gcc", "c++": "g++", "fortran": "gfortran"}
# Some tests ask how libgomp was configured. These answers are those of Debian 12.
CONFIGURATION = "#define HAVE_PTHREAD_AFFINITY_NP 1\n"


class Program:
    """One program of the suite."""

    def __init__(self, name, source, language, work_dir):
        self.name = name
        self.source = source
        self.language = language
        self.test = directives.read(source.read_text(encoding="latin-1"), language)
        self.path = work_dir / (name.replace("/", "+").replace(" ", "_") + ".exe")

    def reason_not_to_run(self):
        """Why this is no program to run here, or an empty string."""
        if self.test.missing:
            return self.test.missing
        return "" if self.test.action == "run" else f"only for: {self.test.action}"


class Programs:
    """All programs of an unpacked source tree whose compilers are there."""

    def __init__(self, source_dir, work_dir):
        self._source_dir = source_dir
        self._work_dir = work_dir
        work_dir.mkdir(parents=True, exist_ok=True)
        config = work_dir / "config.h"
        if not config.exists():
            config.write_text(CONFIGURATION)
        self.all = {}
        for folder, prefix, language, suffixes in FOLDERS:
            if shutil.which(COMPILERS[language]):
                self._find(folder, prefix, language, suffixes)

    def _find(self, folder, prefix, language, suffixes):
        top = self._source_dir / "testsuite" / folder
        for path in sorted(top.rglob("*")):
            if path.suffix in suffixes:
                name = f"{prefix}/{path.relative_to(top)}"
                self.all[name] = Program(name, path, language, self._work_dir)

    def compile(self, name):
        """Whether it compiles. The complaint of one that does not is beside its program."""
        program = self.all[name]
        complaint = program.path.with_suffix(".txt")
        if program.path.exists() or complaint.exists():
            return program.path.exists()
        result = subprocess.run(
            self._command(program),
            capture_output=True,
            text=True,
            errors="replace",
            cwd=self._work_dir,
        )
        if result.returncode != 0:
            complaint.write_text(result.stderr or result.stdout or "the compiler says nothing\n")
        return result.returncode == 0

    def _command(self, program):
        test = program.test
        folder = program.source.parent
        sources = [folder / source for source in test.sources]
        modules = program.path.with_suffix(".modules")
        command = [
            COMPILERS[program.language],
            "-w",
            "-fopenmp",
            f"-I{self._work_dir}",
            f"-I{self._source_dir}",
        ]
        if program.language == "c++":
            command += ["-x", "c++"]
        command += [*test.options, program.source, *sources, "-o", program.path]
        if program.language == "fortran":
            modules.mkdir(exist_ok=True)
            command += [f"-J{modules}", f"-I{folder}"]
            # Modules of one source are used by the next; the test's own file comes first for GCC's
            # harness too.
        else:
            command += ["-x", "none"]
        return [*map(str, command), "-lm"]
