#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether every meeting is a barrier between hosts that have nothing but a network in common, and
whether nobody hangs.

    meetings_test.py --delay-line DELAY_LINE --shim libhierbar_mpi_ompi.so --programs build/release/tests/mpi/ompi [--meetings all]

On three nodes of two ranks: the oracle on all ranks, on random parts of the world, and on
communicators that several threads use at the same time; then a rank is killed.
"""

import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import cluster

NUM_NODES = 3
NUM_RANKS = 6
TIMEOUT_S = 90
ALL_MEETINGS = (
    "library",
    "linear",
    "double-ring",
    "recursive-doubling",
    "dissemination:1",
    "dissemination:2",
    "tree:1",
    "tree:2",
    "combining-tree:2",
    "auto",
)
PROGRAMS = (("barriers", "oracle", "60"), ("barriers", "subsets", "2"), ("threads", "set_up", "12"))


def command_of(arguments, meeting, boards, program, *options):
    settings = {
        "LD_PRELOAD": arguments.shim,
        "HIERBAR_MPI_MEETING": meeting,
        "HIERBAR_VERBOSE": "1",
        "HIERBAR_NETWORK": "off",
        "HIERBAR_MPI_SET_UP_AT": "1",
        "HIERBAR_TEST_BOARDS": boards,
    }
    return [
        *cluster.launch_line(arguments, NUM_RANKS, settings),
        os.path.join(arguments.programs, program),
        *options,
    ]


def check_program(arguments, nodes, meeting, program):
    with tempfile.TemporaryDirectory() as boards:
        status, output, _ = nodes.run(
            command_of(arguments, meeting, boards, *program),
            TIMEOUT_S,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    where = f"{meeting}, {' '.join(program)}"
    if status != 0:
        raise cluster.Failure(
            f"{where}: {'it hangs' if status is None else f'status {status}'}\n{output}"
        )
    if "2 of them on this node" not in output:
        raise cluster.Failure(f"{where}: these are not three nodes of two ranks\n{output}")
    counts = [
        (int(engine), int(library))
        for engine, library in re.findall(r"engine ([0-9]+), library ([0-9]+)", output)
    ]
    if not sum(engine for engine, _ in counts) or (
        program[1] == "oracle" and sum(library for _, library in counts)
    ):
        raise cluster.Failure(f"{where}: the engine does not serve them\n{output}")


def ranks_of(program):
    """The processes of this program; all are in this process namespace. Those that have ended do
    not count."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            name, rest = (path / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if name == program and rest.split()[0] not in "ZX":
            found.append(int(path.name))
    return found


def check_kill(arguments, nodes, meeting, generator):
    process = cluster.start(
        nodes.command_on(0, command_of(arguments, meeting, "/", "barriers", "forever")),
        env=nodes.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        while (line := process.stdout.readline()) != "first barrier\n":
            if not line:
                raise cluster.Failure(f"{meeting}: the program does not start")
        time.sleep(generator.uniform(0, 0.1))  # anywhere in a barrier
        os.kill(generator.choice(ranks_of("barriers")), signal.SIGKILL)
        process.stdout.close()
        process.wait(TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise cluster.Failure(
            f"{meeting}: the launcher does not end after a rank was killed"
        ) from None
    finally:
        process.kill()
    end = time.monotonic() + TIMEOUT_S
    while left := ranks_of("barriers"):
        if time.monotonic() > end:
            raise cluster.Failure(f"{meeting}: ranks {left} are left after one was killed")
        time.sleep(0.01)


def check_all(arguments):
    generator = random.Random(arguments.seed)
    with cluster.Cluster(NUM_NODES, delay_line=arguments.delay_line) as nodes:
        for meeting in (
            ALL_MEETINGS if arguments.meetings == "all" else arguments.meetings.split(",")
        ):
            for program in PROGRAMS:
                check_program(arguments, nodes, meeting, program)
            check_kill(arguments, nodes, meeting, generator)
            print(f"{meeting}: right, and nobody is left after a kill", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--meetings", default="auto", help="a comma list, or all")
    cluster.add_mpi_arguments(parser)
    parser.add_argument("--seed", type=int, default=1)
    for name in "delay-line", "shim", "programs":
        parser.add_argument(f"--{name}", required=True)
    return cluster.status_of(check_all, parser.parse_args())


if __name__ == "__main__":
    cluster.contain()
    sys.exit(main())
