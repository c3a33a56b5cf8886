#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A launch under a real Slurm, and what its ranks make of it before MPI_Init.

    slurm_test.py --program launch_probe --launcher Slurm --ranks 2 -- srun -n 2

The command runs beside with_slurm.py's Slurm and gets the program as its last word. Every rank must
name the launcher, which is not Slurm where another one runs inside it; their positions must be 0 to
N-1, and they must have one job key. A second launch must have another key. What is missing is said,
and 77 returned.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
WITH_SLURM = pathlib.Path(__file__).with_name("with_slurm.py")
LINE = re.compile(r"^(.+); rank (\d+) of (\d+); key ([^;]+); ", re.MULTILINE)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", required=True, help="launch_probe")
    parser.add_argument("--launcher", required=True, help="the name that it must find")
    parser.add_argument(
        "--ranks", type=int, required=True, help="how many the command starts on this node"
    )
    parser.add_argument("--needs", help="another program that must be there")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def launch(arguments):
    """Returns the job key; None where Slurm cannot run."""
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    result = subprocess.run(
        [str(WITH_SLURM), "--", *arguments.command, arguments.program],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=150,
    )
    if result.returncode == SKIPPED:
        print(result.stdout, end="")
        return None
    answers = LINE.findall(result.stdout)
    wanted = [
        (arguments.launcher, str(rank), str(arguments.ranks)) for rank in range(arguments.ranks)
    ]
    keys = {key for *_, key in answers}
    if (
        result.returncode != 0
        or sorted(tuple(answer[:3]) for answer in answers) != wanted
        or len(keys) != 1
    ):
        sys.exit(
            f"FAILED: {arguments.command}: expected {wanted} with one key; exit status {result.returncode}\n{result.stdout}"
        )
    return keys.pop()


def main():
    arguments = parse_arguments()
    if arguments.needs and not shutil.which(arguments.needs):
        print(f"skipped: no {arguments.needs} here")
        return SKIPPED
    first = launch(arguments)
    if first is None:
        return SKIPPED
    if launch(arguments) == first:
        sys.exit(f"FAILED: two launches have the key {first}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
