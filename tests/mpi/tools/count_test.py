#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""count_test.py --library LIBRARY --program EXCHANGES --hierbar HIERBAR -- LAUNCHER...:
HIERBAR_COUNT counts what exchanges.cpp sends, writes a matrix that hierbar reads, and does nothing
where it is not set."""

import argparse
import os
import pathlib
import subprocess
import tempfile

RANKS = 3


def expected():
    sent_bytes = [[0] * RANKS for _ in range(RANKS)]
    messages = [[0] * RANKS for _ in range(RANKS)]

    def send(sender, receiver, num_bytes, count=1):
        sent_bytes[sender][receiver] += num_bytes * count
        messages[sender][receiver] += count

    for rank in range(RANKS):
        send(rank, (rank + 1) % RANKS, 40, rank + 1)
        for other in range(RANKS):
            if other != rank:
                send(rank, other, 4)
                send(rank, other, 8)
    for other in range(1, RANKS):
        for num_bytes in (4, 8):
            send(0, other, num_bytes)
            send(other, 0, num_bytes)
    send(RANKS - 1, RANKS - 2, 7)
    return sent_bytes, messages


def read(path):
    matrices = [[]]
    for line in path.read_text().splitlines():
        if line.startswith("# messages"):
            matrices.append([])
        elif not line.startswith("#"):
            matrices[-1].append([int(cell) for cell in line.split(",")])
    return tuple(matrices)


def main():
    parser = argparse.ArgumentParser()
    for name in ("library", "program", "hierbar"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument(
        "--mixed-with", help="a program in C, for one rank beside one of --other-program"
    )
    parser.add_argument(
        "--other-program", help="a program in Fortran that makes the same collective calls"
    )
    parser.add_argument("launcher", nargs="+")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "bytes.csv")

        def run(count, check=True, programs=((RANKS, arguments.program),)):
            environment = dict(
                os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"
            )
            settings = [f"LD_PRELOAD={arguments.library}"] + (
                [f"HIERBAR_COUNT={count}"] if count else []
            )
            # env is a program without MPI under the library as well, once the variables are set in its own environment.
            oversubscribe = ["--oversubscribe"] if "openmpi" in arguments.launcher[0] else []
            command = [*arguments.launcher, *oversubscribe]
            for ranks, program in programs:
                command += ["-n", str(ranks), "env", *settings, "env", program, ":"]
            return subprocess.run(
                command[:-1],
                env=environment,
                text=True,
                capture_output=True,
                timeout=90,
                check=check,
            )

        run(None)
        assert not path.exists() and not os.listdir(directory), "written without HIERBAR_COUNT"
        run(path)
        assert read(path) == expected(), path.read_text()
        # Ranks of another language end by other ways, and may count nothing.
        if arguments.other_program:
            path.unlink()
            run(path, programs=((1, arguments.mixed_with), (1, arguments.other_program)))
            assert path.exists(), "nothing is written where a rank is in Fortran"
            run(path, programs=((RANKS, arguments.program),))
        # It is understood, though nothing is known of this machine's network.
        result = subprocess.run(
            [arguments.hierbar, "predict", "--matrix", path, "-n", "4"],
            text=True,
            capture_output=True,
            env=dict(os.environ, HIERBAR_NETWORK="off"),
            check=False,
        )
        assert result.returncode == 2 and "it has 3 ranks" in result.stderr, result.stderr
        result = run("/nowhere/bytes.csv")
        assert (
            "hierbar: HIERBAR_COUNT: '/nowhere/bytes.csv' cannot be written: No such file"
            in result.stderr
        ), result.stderr


if __name__ == "__main__":
    main()
