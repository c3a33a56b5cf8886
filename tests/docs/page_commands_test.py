#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""page_commands_test.py PAGE BIN_DIR: runs a page's commands as they stand there, and compares what
they print with what the page shows. page_commands.py describes the marks.

They run in an empty directory that has links to what the repository has, `build/release` for the
build that is tested, the programs of tests/docs/programs and the files of FILES. `/path/to/lib` in a page is
the build's lib.

Commands that start nothing for want of a program (a launcher, Slurm, numpy) are named at the end.
Exit status: 0 all that ran are right, 1 not, 77 nothing could be run.
"""

import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import page_commands

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SLURM = [sys.executable, "-B", str(ROOT / "tests/placement/with_slurm.py"), "--"]
PROGRAMS = (  # the name in the pages, its source, the compiler, and its options
    ("app", "app.c", "cc", ["-fopenmp"]),
    ("mpi_app", "mpi_app.c", "mpicc", []),
    ("mpich_app", "mpi_app.c", "mpicc.mpich", []),
    ("hybrid_app", "hybrid_app.c", "mpicc.mpich", ["-fopenmp"]),
)
NUM_TALKERS = 32
FILES = {
    # Of ranks in a ring.
    "bytes.csv": "".join(
        ",".join(
            "65536" if (column - row) % NUM_TALKERS in (1, NUM_TALKERS - 1) else "0"
            for column in range(NUM_TALKERS)
        )
        + "\n"
        for row in range(NUM_TALKERS)
    ),
    "runs.csv": """\
# split, microseconds: a line for each run
2x4,812500
2x4,809000
4x2,655000
""",
    # Hides the program from whoever reads the command.
    "script.sh": """\
#!/bin/sh
exec ./mpich_app
""",
    # numpy on an OpenBLAS whose threads are OpenMP's, as Debian has it.
    "train.py": """\
import numpy

matrix = numpy.random.default_rng(1).random((400, 400))
for _ in range(100):
    matrix = matrix @ matrix / 100
    matrix /= numpy.abs(matrix).max()
print(matrix.shape)
""",
}
OTHERS = ("mpiexec", "mpiexec.mpich", "mpiexec.openmpi", "mpicc.mpich", "mpicc.openmpi", "lstopo")
WITH_SUBCOMMANDS = ("hierbar", "barrier_model")
SKIPPED = 77
LIMIT_S = 240
OURS = ("HIERBAR_", "KMP_", "OMP_", "GOMP_", "LD_")


class SkipReason(Exception):
    """Why a command was not run."""


def environment(bin_dir, work):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    # As root, in a container: Open MPI asks for each of these.
    clean |= {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    # Debian's Python and numpy, on the OpenBLAS that is built with OpenMP, whatever else is
    # installed.
    clean |= {
        "HIERBAR_PROFILE": "off",
        "LC_ALL": "C",
        "PATH": f"{bin_dir}:/usr/bin:{clean['PATH']}",
        "XDG_CONFIG_HOME": str(work / ".config"),
    }
    library = next(iter(pathlib.Path("/usr/lib").glob("*/openblas-openmp")), None)
    return clean | ({"LD_LIBRARY_PATH": str(library)} if library else {})


def link_repository(work, bin_dir):
    for path in ROOT.iterdir():
        if path.name not in (".git", "build"):
            (work / path.name).symlink_to(path)
    (work / "build").mkdir()
    (work / "build/release").symlink_to(bin_dir.parent)


def compile_programs(work):
    """Compiles what there is a compiler for, and says what is missing."""
    missing = {}
    for name, source, compiler, options in PROGRAMS:
        if shutil.which(compiler) is None:
            missing[f"./{name}"] = f"there is no {compiler}"
            continue
        line = [compiler, *options, "-O1", str(HERE / "programs" / source), "-o", str(work / name)]
        subprocess.run(line, check=True)
    shutil.copy(HERE / "programs/hierbar-results.json", work)
    for name, text in FILES.items():
        (work / name).write_text(text)
    (work / "script.sh").chmod(0o755)
    numpy = subprocess.run(["/usr/bin/python3", "-c", "import numpy"], capture_output=True)
    if numpy.returncode != 0:
        missing["train.py"] = "there is no numpy"
    if "./mpich_app" in missing:
        missing["./script.sh"] = missing["./mpich_app"]
    for name in OTHERS:
        if shutil.which(name) is None:
            missing[name] = f"there is no {name}"
    return missing


class Page:
    """A page's commands, run in a directory of their own."""

    def __init__(self, bin_dir, work):
        self.bin_dir, self.work = bin_dir, work
        self.env = environment(bin_dir, work)
        link_repository(work, bin_dir)
        self.missing = compile_programs(work)
        self.skipped, self.num_run = [], 0

    def run(self, line):
        """(exit status, output) of a command, which ends after a time with all that it started."""
        process = subprocess.Popen(
            line,
            cwd=self.work,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=LIMIT_S)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return f"none in {LIMIT_S} s", output

    def problems_of(self, block):
        if block.how == "run elsewhere":
            return check_elsewhere(block)
        commands = block.commands()
        if block.how == "not run":
            return [fault for command, _ in commands for fault in self.faults_of_names(command)]
        problems, exports = [], ""
        self.num_run += len(commands)
        for index, (command, expected) in enumerate(commands):
            end = block.exit_status if index == len(commands) - 1 else 0
            try:
                problems += self.faults_of_run(exports + command, expected, end)
            except SkipReason as reason:  # later commands may need this one's files
                self.skipped += [f"{later}: {reason}" for later, _ in commands[index:]]
                break
            if command.startswith("export "):  # holds for the block's later commands
                exports += f"{command}\n"
        return problems

    def faults_of_run(self, command, expected, wanted_status):
        """What is wrong with a command that is run."""
        words = command.split()
        lacking = next((why for word, why in self.missing.items() if word in words), None)
        if lacking:
            raise SkipReason(lacking)
        line = ["bash", "-c", command.replace("/path/to/lib", str(self.bin_dir.parent / "lib"))]
        if re.search(r"\bsrun\b", command):
            line = SLURM + line
        status, output = self.run(line)
        if status == SKIPPED:
            raise SkipReason(output.strip().splitlines()[-1])
        missing = page_commands.missing_lines(expected, output)
        if status != wanted_status or missing:
            wanted = "".join(f"\n  expected: {line}" for line in missing)
            yield f"{command.splitlines()[-1]}: exit status {status}{wanted}\n{output}"

    def program_of(self, word):
        """The file of a program of ours that a command names, or None."""
        name = word.removeprefix("build/release/bin/")
        if "/" not in name and (self.bin_dir / name).is_file():
            return self.bin_dir / name
        path = self.work / word
        is_ours = "/" in word and path.is_file() and os.access(path, os.X_OK)
        return path if is_ours else None

    @functools.cache
    def options_of(self, program, subcommand):
        """The text in which a program's options are: its help, else its source."""
        line = [str(program), "--help"]
        if program.name in WITH_SUBCOMMANDS and subcommand:
            line.insert(1, subcommand)
        if program.parent != self.bin_dir:
            text = program.read_text(encoding="utf-8", errors="replace")
            if "argparse" not in text and "--help" not in text:
                return text
        status, output = self.run(["env", f"LD_LIBRARY_PATH={self.bin_dir.parent / 'lib'}", *line])
        return output if status in (0, 2) else ""

    def faults_of_names(self, command):
        """Options, presets, variables and built files of a command that do not exist."""
        calls = page_commands.calls_in(command, lambda word: self.program_of(word) is not None)
        for word, subcommand, options in calls:
            text = self.options_of(self.program_of(word), subcommand)
            for option in options:
                if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text):
                    yield f"{command}: {word} has no option {option}"
        presets = (ROOT / "CMakePresets.json").read_text(encoding="utf-8")
        for preset in re.findall(r"--preset ([\w-]+)", command):
            if f'"name": "{preset}"' not in presets:
                yield f"{command}: there is no preset {preset}"
        for name in re.findall(r"\b(HIERBAR_[A-Z_]+)=", command):
            if name not in self.variables():
                yield f"{command}: there is no variable {name}"

    @functools.cache
    def variables(self):
        _, listed = self.run([str(self.bin_dir / "hierbar"), "variables", "--json"])
        return {entry["name"] for entry in json.loads(listed)["variables"]}


def check_elsewhere(block):
    runs = ROOT / block.name
    if not runs.exists() or block.first_word() not in runs.read_text(encoding="utf-8"):
        yield f"line {block.line}: {block.name} does not run {block.first_word()}"


def main():
    path, bin_dir = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    text = path.read_text(encoding="utf-8")
    problems = page_commands.faults_of_marks(text)
    with tempfile.TemporaryDirectory() as directory:
        page = Page(bin_dir, pathlib.Path(directory))
        for block in page_commands.blocks_of(text):
            if block.how:
                problems += page.problems_of(block)
    print("\n".join(problems) if problems else "ok")
    for line in page.skipped:
        print(f"skipped: {line}")
    was_run = page.num_run == 0 or len(page.skipped) < page.num_run
    return 1 if problems else 0 if was_run else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
