#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""readme_commands_test.py README BIN_DIR: runs the README's commands as they stand there, with the
programs of tests/docs/programs, and compares what they print with what the README shows.

Commands that start nothing for want of a program (a launcher, Slurm, numpy) are named at the end.
Exit status: 0 all that ran are right, 1 not, 77 nothing could be run.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import readme_commands

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SLURM = [sys.executable, "-B", str(ROOT / "tests/placement/with_slurm.py"), "--"]
SKIPPED = 77
LIMIT_S = 120
OURS = ("HIERBAR_", "KMP_", "OMP_", "GOMP_", "LD_")


def environment(bin_dir):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    # As root, in a container: Open MPI asks for each of these.
    clean |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    # Debian's Python and numpy, on the OpenBLAS that is built with OpenMP, whatever else is installed.
    clean |= {"HIERBAR_PROFILE": "off", "LC_ALL": "C", "PATH": f"{bin_dir}:/usr/bin:{clean['PATH']}"}
    library = next(iter(pathlib.Path("/usr/lib").glob("*/openblas-openmp")), None)
    return clean | ({"LD_LIBRARY_PATH": str(library)} if library else {})


def compile_programs(work):
    """Compiles what there is a compiler for, and says what is missing."""
    shutil.copy(HERE / "programs/train.py", work)
    missing = {}
    for name, compiler, flags in (("app", "cc", ["-fopenmp"]), ("mpi_app", "mpicc", [])):
        if shutil.which(compiler) is None:
            missing[f"./{name}"] = f"there is no {compiler}"
            continue
        subprocess.run([compiler, *flags, "-O1", str(HERE / f"programs/{name}.c"), "-o", str(work / name)], check=True)
    if subprocess.run(["/usr/bin/python3", "-c", "import numpy"], capture_output=True, check=False).returncode != 0:
        missing["train.py"] = "there is no numpy"
    return missing


def run_command(command, work, env):
    line = ["bash", "-c", command]
    if " srun " in command:
        line = SLURM + line
    return subprocess.run(line, cwd=work, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=LIMIT_S, check=False)


def check_command(command, expected, work, env):
    """None, or what is wrong; raises Skipped with the reason."""
    result = run_command(command, work, env)
    if result.returncode == SKIPPED:
        raise SkipReason(result.stdout.strip().splitlines()[-1])
    missing = readme_commands.missing_lines(expected, result.stdout)
    if result.returncode == 0 and not missing:
        return None
    wanted = "".join(f"\n  expected: {line}" for line in missing)
    return f"{command}: exit status {result.returncode}{wanted}\n{result.stdout}"


class SkipReason(Exception):
    """Why a command was not run."""


def check_block(block, missing, work, env, skipped):
    for command, expected in block.commands():
        lacking = next((why for word, why in missing.items() if word in command.split()), None)
        try:
            if lacking:
                raise SkipReason(lacking)
            if problem := check_command(command, expected, work, env):
                yield problem
        except SkipReason as reason:
            skipped.append(f"{command}: {reason}")


def check_elsewhere(block):
    runs = ROOT / block.name
    if not runs.exists() or block.first_word() not in runs.read_text(encoding="utf-8"):
        yield f"line {block.line}: {block.name} does not run {block.first_word()}"


def main():
    readme, bin_dir = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    text = readme.read_text(encoding="utf-8")
    problems, skipped, num_run = readme_commands.unmarked_blocks(text), [], 0
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        missing = compile_programs(work)
        for block in readme_commands.blocks_of(text):
            if block.is_elsewhere:
                problems += check_elsewhere(block)
            elif block.name:
                num_run += len(block.commands())
                problems += check_block(block, missing, work, environment(bin_dir), skipped)
    print("\n".join(problems) if problems else "ok")
    for line in skipped:
        print(f"skipped: {line}")
    return 1 if problems else SKIPPED if len(skipped) == num_run else 0


if __name__ == "__main__":
    sys.exit(main())
