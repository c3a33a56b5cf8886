#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""advise_cluster.py --hierbar HIERBAR --alltoall PROGRAM --stencil PROGRAM --count LIBRARY:
`hierbar advise --try` on a cluster of namespaces, each node with 100 Mbit/s.

Four ranks on two nodes or on four, of all-to-alls and of stencil_bench's program, whose bytes the
counting library has written down: the first choice must be at most 5 % slower than the best that
was tried, with and without its binding. Needs root, and leaves the machine to itself for four
minutes. Exit status: 0, 1, or 77 where there can be no cluster.
"""

import argparse
import json
import os
import pathlib
import shlex
import sys
import tempfile

from cluster import Cluster, run_contained
from predict_cluster import RANKS, SIZES, measure_costs, open_mpi, open_mpi_settings, run

STENCIL = "64 16384 100 1 60 messages".split()  # rows of 128 KiB, and little to compute


def environment(cluster, directory, hierbar):
    """In which advise's lines, which name no host, start on this cluster as in a batch system's job."""
    hosts = pathlib.Path(directory, "hosts")
    hosts.write_text("".join(f"{address} slots=2\n" for address in cluster.addresses))
    names = "".join(
        f"s/=+n{i} /={address} /;" for i, address in enumerate(cluster.addresses)
    )  # a rankfile counts the job's nodes
    launcher = pathlib.Path(directory, "mpiexec")
    launcher.write_text(
        '#!/bin/sh\n[ ! -e ranks ] || sed -i "{names}" ranks\n'
        'exec mpiexec.openmpi --allow-run-as-root --hostfile {hosts} "$@"\n'.format(
            names=names, hosts=hosts
        )
    )
    launcher.chmod(0o755)
    return dict(
        cluster.environment(),
        PATH=f"{directory}:{pathlib.Path(hierbar).parent}:{os.environ['PATH']}",
        **{f"OMPI_MCA_{name}": value for name, value in open_mpi_settings(cluster).items()},
    )


def count_bytes(cluster, arguments, file):
    """Writes which rank of the stencil sends how many bytes to which."""
    settings = [
        "-x",
        f"LD_PRELOAD={arguments.count}",
        "-x",
        f"HIERBAR_COUNT={file}",
        "-x",
        "OMP_NUM_THREADS=1",
    ]
    run(cluster, [*open_mpi(cluster, 2, 2), *settings, arguments.stencil, *STENCIL], 120)


def try_candidates(cluster, arguments, directory, what, program):
    """The candidates of `hierbar advise` that were tried, in its order. `what` is how it knows the
    program's messages."""
    words = [
        arguments.hierbar,
        "advise",
        "-n",
        "4",
        "--nodes",
        "2,4",
        "--threads",
        "1",
        *what,
        "--network",
        f"{directory}/network.json",
        "--launcher",
        "openmpi",
        "--try",
        "4",
        "--rounds",
        "5",
        "--json",
        "--",
        *program,
    ]
    command = ["sh", "-c", f"cd {directory} && exec {shlex.join(words)}"]
    output = run(cluster, command, 300, env=environment(cluster, directory, arguments.hierbar))
    return [one for one in json.loads(output)["candidates"] if "tried_s" in one]


def judge(name, tried):
    """The findings: nothing to choose from, or a first choice that was not a good one."""
    for one in tried:
        print(
            f"{name} {'+'.join(map(str, one['ranks_per_node']))} {one['pattern']}: order {one['order']}, "
            f"{one['tried_s']['median']:.3f} s, unbound {one['default_s']['median']:.3f} s"
        )
    best = min(one[key]["median"] for one in tried for key in ("tried_s", "default_s"))
    loss = tried[0]["tried_s"]["median"] / best - 1
    print(f"{name}: the first choice is {100 * loss:.1f} % slower than the best of {len(tried)}")
    return (
        []
        if len(tried) > 1 and loss <= 0.05
        else [
            f"{name}: {len(tried)} tried, the first choice {100 * loss:.1f} % slower than the best"
        ]
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in "hierbar", "alltoall", "stencil", "count":
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as directory, Cluster(
        RANKS, mbit=100, burst_kb=256
    ) as cluster:
        measure_costs(cluster, arguments.hierbar, os.path.join(directory, "network.json"))
        matrix = os.path.join(directory, "bytes.csv")
        count_bytes(cluster, arguments, matrix)
        programs = {
            name: (["--traffic", f"alltoall:{name}"], [arguments.alltoall, str(size), "20"])
            for name, size in SIZES.items()
        }
        programs["stencil"] = ["--matrix", matrix], [arguments.stencil, *STENCIL]
        for name, (what, program) in programs.items():
            failures += judge(name, try_candidates(cluster, arguments, directory, what, program))
    print("ok" if not failures else "failed: " + "; ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    run_contained(main)
