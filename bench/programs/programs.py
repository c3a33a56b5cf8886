# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of compare_programs.py: how each is built, run and read."""

import ctypes.util
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import typing

HERE = pathlib.Path(__file__).resolve().parent

# By family: for C and for C++. The first that exists is used.
COMPILERS = {
    "clang": (("clang-19", "clang"), ("clang++-19", "clang++")),
    "gcc": (("gcc",), ("g++",)),
}


class Missing(Exception):
    """A program cannot be built or run here; the message says why."""


class Failed(Exception):
    """A program failed, or its answer is wrong."""


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    compiler: str
    command: tuple
    binary: pathlib.Path  # what the runtime is loaded for
    unit: str
    read: typing.Callable  # what the program prints -> {name of a figure: value, lower is better}
    repeats: int = 1  # in each round; the median counts

    @property
    def title(self):
        return f"{self.name}, {self.compiler}"


def find_compiler(family, language):
    names = COMPILERS[family][language == "c++"]
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise Missing(f"no {' or '.join(names)}")
    return found


def run_tool(command, **options):
    result = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, errors="replace", **options
    )
    if result.returncode != 0:
        raise Missing(f"'{' '.join(map(str, command))}' failed: {result.stderr.strip()[-400:]}")


# ---- EPCC's microbenchmarks ----

# Iterations of 1 us in place of 15: a run takes a fifteenth of the time, and what a schedule costs
# weighs more.
EPCC_OPTIONS = {"syncbench": (), "schedbench": ("--delay-time", "1")}


def read_epcc(quantity):
    pattern = re.compile(
        rf"^(?!reference)(.+?) {quantity} *= *(-?[\d.]+) microseconds", re.MULTILINE
    )
    return lambda text: {name.strip(): float(value) for name, value in pattern.findall(text)}


def epcc(source_dir, work_dir, compiler):
    """`time` of a schedule is mostly that of its iterations: the overhead would be a small
    difference of large numbers."""
    if source_dir is None:
        raise Missing("no --epcc")
    if not (source_dir / "syncbench.c").exists():
        raise Missing(f"--epcc: no syncbench.c in '{source_dir}'")
    for name, options in EPCC_OPTIONS.items():
        binary = work_dir / f"{name}-{compiler}"
        defines = ["-DOMPVER2", "-DOMPVER3"] + (["-DSCHEDBENCH"] if name == "schedbench" else [])
        run_tool(
            [
                find_compiler(compiler, "c"),
                "-O1",
                "-fopenmp",
                "-w",
                *defines,
                source_dir / f"{name}.c",
                source_dir / "common.c",
                "-lm",
                "-o",
                binary,
            ]
        )
        yield Program(
            name,
            compiler,
            (binary, "--outer-repetitions", "8", "--test-time", "500", *options),
            binary,
            "us",
            read_epcc("overhead" if name == "syncbench" else "time"),
        )


# ---- NAS parallel benchmarks, in C ----


def read_npb(text):
    """The printed time has too few digits; the rate that is computed from it has more."""
    if not re.search(r"VERIFICATION SUCCESSFUL|Verification *= *SUCCESSFUL", text, re.IGNORECASE):
        raise Failed("no 'VERIFICATION SUCCESSFUL'")
    rate = float(re.search(r"Mop/s total *= *([\d.]+)", text)[1])
    return {"class S": 1e3 / rate}


def npb(source_dir, work_dir, compiler):
    if source_dir is None:
        raise Missing("no --npb")
    if not (source_dir / "CG" / "cg.c").exists():
        raise Missing(f"--npb: no CG/cg.c in '{source_dir}'")
    tree = work_dir / f"npb-{compiler}"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(source_dir, tree)
    (tree / "bin").mkdir(exist_ok=True)
    shutil.copy(tree / "config" / "make.def.template", tree / "config" / "make.def")
    command = find_compiler(compiler, "c")
    flags = "-O3 -fopenmp -mcmodel=medium -w -fcommon"
    for name in ("cg", "mg"):
        run_tool(
            [
                "make",
                "-C",
                tree / name.upper(),
                "CLASS=S",
                f"CC={command}",
                f"CLINK={command}",
                f"CFLAGS={flags}",
                f"CLINKFLAGS={flags}",
                "C_LIB=-lm",
            ]
        )
        binary = tree / "bin" / f"{name}.S"
        yield Program(f"npb {name}", compiler, (binary,), binary, "ns/op", read_npb, repeats=5)


# ---- small inputs ----


def read_small(text):
    return {
        name: float(value) for name, value in re.findall(r"^(.+): ([\d.]+) us$", text, re.MULTILINE)
    }


def conjugate_gradient(_, work_dir, compiler):
    binary = work_dir / f"conjugate_gradient-{compiler}"
    run_tool(
        [
            find_compiler(compiler, "c++"),
            "-std=c++17",
            "-O2",
            "-fopenmp",
            HERE / "conjugate_gradient.cpp",
            "-o",
            binary,
        ]
    )
    yield Program("conjugate_gradient", compiler, (binary,), binary, "us", read_small)


def primecount(_, __, compiler):
    """Debian's library, which GCC compiled."""
    if compiler != "gcc":
        return
    name = ctypes.util.find_library("primecount")
    if name is None:
        raise Missing("no libprimecount (Debian: libprimecount7)")
    with open("/proc/self/maps") as maps:  # ctypes tells no path; the loader does
        ctypes.CDLL(name)
        path = next((line.split()[-1] for line in maps if name in line), None)
    if path is None:
        raise Missing(f"{name} was not found among this process's files")
    yield Program(
        "primecount",
        compiler,
        (sys.executable, "-B", HERE / "count_primes.py", path),
        pathlib.Path(path),
        "us",
        read_small,
    )


ALL = {"epcc": epcc, "npb": npb, "conjugate_gradient": conjugate_gradient, "primecount": primecount}
