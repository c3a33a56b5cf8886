#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""advise_launch_test.py --hierbar HIERBAR --profile FILE --line NAME [--mpiexec MPIEXEC]: each line
that `hierbar advise` prints for a launcher starts, and `hierbar check` finds nothing in what it
started. FILE is of another machine; its costs are used as this one's.

NAME is "MPICH", "Open MPI" or "Slurm" (under tests/placement/with_slurm.py). Returns 77 where a
machine has one cpu only.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def advise(arguments, profile, *options):
    command = [
        arguments.hierbar,
        "advise",
        "--nodes",
        "1",
        "--traffic",
        "halo:1K",
        "--network",
        profile,
        *options,
        "--json",
        "--",
        arguments.hierbar,
        "check",
        "--",
        "true",
    ]
    return subprocess.run(command, text=True, capture_output=True, check=False)


def profile_of_this_machine(arguments, directory):
    refusal = advise(arguments, arguments.profile, "-n", "2").stderr
    machine = re.search(r"this machine is '([^']+)'", refusal)
    assert machine, refusal
    profile = json.loads(pathlib.Path(arguments.profile).read_text(encoding="utf-8"))
    for network in profile["networks"]:
        network["contention"]["machine"] = machine.group(1)
    path = pathlib.Path(directory, "network.json")
    path.write_text(json.dumps(profile), encoding="utf-8")
    return str(path)


def main():
    parser = argparse.ArgumentParser()
    for name in ("hierbar", "profile", "line"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--mpiexec")
    arguments = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: one cpu only: there are no two ranks to bind")
        return 77
    environment = dict(
        os.environ,
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        PATH=f"{pathlib.Path(arguments.hierbar).parent}:{os.environ['PATH']}",
    )
    num_lines = 0
    with tempfile.TemporaryDirectory() as directory:
        profile = profile_of_this_machine(arguments, directory)
        for options in (("-n", "2"), ("-n", "1", "--threads", "2,1")):
            result = advise(arguments, profile, *options)
            assert result.returncode == 0, result.stderr
            for candidate in json.loads(result.stdout)["candidates"]:
                line = candidate["lines"][arguments.line]
                if arguments.mpiexec:
                    line = re.sub(r"\bmpiexec\b", arguments.mpiexec, line)
                run = subprocess.run(
                    ["sh", "-c", line],
                    cwd=directory,
                    env=environment,
                    text=True,
                    capture_output=True,
                    timeout=60,
                    check=False,
                )
                assert run.returncode == 0, f"{line}\n{run.returncode}\n{run.stdout}{run.stderr}"
                num_lines += 1
    assert num_lines >= 3, num_lines
    print(f"{num_lines} lines started, and check found nothing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
