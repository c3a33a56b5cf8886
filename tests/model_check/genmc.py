# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GenMC, the model checker: where it is, how a program is compiled and run, what it reports."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

MODELS = ("rc11", "imm")

# The whole program becomes a few functions without calls. So what is local to a thread stays in
# registers; otherwise the checker would count every access to it as an event. That is also why
# noinline, an attribute of cold functions, becomes the opposite.
COMPILER_FLAGS = (
    "-std=c++17",
    "-O2",
    "-mllvm",
    "-inline-threshold=1000000",
    "-Dnoinline=always_inline",
    "-fno-builtin",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-fno-threadsafe-statics",
    "-S",
    "-emit-llvm",
    "-include",
    "atomic",  # for mutants, which name orders
    "-Wall",
    "-Wextra",
    "-Wno-unused",
    "-Wno-unused-parameter",
    "-Wno-missing-field-initializers",
)

# Waits are marked (verifier.hpp). GenMC's own detection of waits is disabled, because it would take
# the loops of the real hosts for waits.
OPTIONS = ("-check-liveness", "-disable-spin-assume", "-disable-confirmation-annotation")

COUNTS = {
    "executions": re.compile(r"^Number of complete executions explored: (\d+)", re.MULTILINE),
    "blocked": re.compile(r"^Number of blocked executions seen: (\d+)", re.MULTILINE),
}
ERROR = re.compile(r"^Error(?: detected)?: (.*?)!?$", re.MULTILINE)
VERSION = re.compile(r"GenMC v(\S+)")


class CannotRun(Exception):
    """Something outside of the project is missing or does not work."""


class CannotCompile(Exception):
    """A driver does not fit the sources."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of one exploration."""

    result: str  # "passed", "error", "timeout"
    message: str = ""  # the kind of error
    executions: int = 0
    blocked: int = 0
    seconds: float = 0.0
    log: str = ""


class Genmc:
    """The tools. Raises CannotRun with the reason if they cannot be used."""

    def __init__(self, environment=os.environ):
        where = environment.get("GENMC", "")
        if not where:
            raise CannotRun(
                "GENMC is not set; allowed: the built source tree of GenMC v0.9, with its src/genmc and include/"
            )
        tree = pathlib.Path(where).resolve()
        self.program = tree / "src/genmc"
        self.headers = tree / "include"
        for needed in (self.program, self.headers / "genmc.h"):
            if not needed.is_file():
                raise CannotRun(
                    f"GENMC '{where}': there is no {needed.relative_to(tree)} in it; allowed: the built source tree of "
                    "GenMC v0.9"
                )
        name = environment.get("CLANGXX", "clang++-14")
        self.compiler = shutil.which(name)
        if self.compiler is None:
            raise CannotRun(
                f"CLANGXX '{name}': no such program; allowed: a clang++ of the LLVM that GenMC was built with"
            )
        self.version = self._version(where)

    def _version(self, where):
        done = subprocess.run([self.program, "--version"], capture_output=True, text=True)
        found = VERSION.search(done.stdout)
        if not found:
            raise CannotRun(
                f"GENMC '{where}': src/genmc --version says no version: {(done.stdout + done.stderr).strip()[:200]}"
            )
        return found.group(1)

    def compile(self, source, defines, output, first_on_path=(), debug=False):
        """Compiles a driver. A file in a directory of first_on_path replaces the project's.

        Returns the files from which it was compiled."""
        path = (
            *first_on_path,
            HERE / "stand_ins",
            HERE / "stand_ins/libomp",
            HERE,
            ROOT / "runtime",
            ROOT / "runtime/include",
            ROOT / "runtime/libomp",
            ROOT,
        )
        include = [f"-I{directory}" for directory in path]
        command = [
            self.compiler,
            *COMPILER_FLAGS,
            *(["-g"] if debug else []),
            *include,
            "-idirafter",
            self.headers,
            *(f"-D{name}={value}" for name, value in defines.items()),
            "-MD",
            "-MF",
            f"{output}.d",
            "-o",
            output,
            source,
        ]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            raise CannotCompile(
                f"{pathlib.Path(source).name} does not compile:\n{done.stderr[:4000]}"
            )
        rule = pathlib.Path(f"{output}.d")
        files = rule.read_text().replace("\\\n", " ").split()[1:]  # after "output:"
        rule.unlink()
        return {pathlib.Path(file).resolve() for file in files}

    def explore(self, program, model, timeout_s):
        """Explores all executions of a compiled driver."""
        command = [
            str(self.program),
            "--input-from-bitcode-file",
            f"-{model}",
            *OPTIONS,
            "--",
            str(program),
        ]
        start = time.monotonic()
        try:
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=timeout_s,
            )
        except subprocess.TimeoutExpired:
            return Outcome(
                "timeout", f"not done after {timeout_s} s", seconds=time.monotonic() - start
            )
        return outcome_of(done.stdout, done.returncode, time.monotonic() - start)


def outcome_of(log, return_code, seconds):
    """Reads what GenMC has printed."""
    counts = {
        name: int(found.group(1))
        for name, found in ((n, p.search(log)) for n, p in COUNTS.items())
        if found
    }
    error = ERROR.search(log)
    if error is None and return_code == 0 and "executions" in counts:
        return Outcome("passed", seconds=seconds, log=log, **counts)
    if error is None:
        raise CannotRun(f"GenMC failed (exit status {return_code}):\n{log[-4000:]}")
    return Outcome("error", error.group(1), seconds=seconds, log=log, **counts)
