#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""advise_cluster.py --hierbar HIERBAR --alltoall PROGRAM: `hierbar advise --try` on a cluster of namespaces, each node with 100 Mbit/s.

Four ranks of an all-to-all on two nodes or on four: the first choice must be at most 5 % slower than the best that was tried, with
and without its binding. Needs root, and leaves the machine to itself for two minutes. Exit status: 0, 1, or 77 where there can be no
cluster.
"""

import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

from cluster import Cluster, run_contained
from predict_cluster import RANKS, measure_costs, open_mpi_settings, run

SIZES = {"96K": 96 << 10, "384K": 384 << 10}  # held out


def environment(cluster, directory, hierbar):
    """In which advise's lines, which name no host, start on this cluster as in a batch system's job."""
    hosts = pathlib.Path(directory, "hosts")
    hosts.write_text("".join(f"{address} slots=2\n" for address in cluster.addresses))
    names = "".join(f"s/=+n{i} /={address} /;" for i, address in enumerate(cluster.addresses))  # a rankfile counts the job's nodes
    launcher = pathlib.Path(directory, "mpiexec")
    launcher.write_text('#!/bin/sh\n[ ! -e ranks ] || sed -i "{names}" ranks\n'
                        'exec mpiexec.openmpi --allow-run-as-root --hostfile {hosts} "$@"\n'.format(names=names, hosts=hosts))
    launcher.chmod(0o755)
    return dict(cluster.environment(), PATH=f"{directory}:{pathlib.Path(hierbar).parent}:{os.environ['PATH']}",
                **{f"OMPI_MCA_{name}": value for name, value in open_mpi_settings(cluster).items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hierbar", required=True)
    parser.add_argument("--alltoall", required=True)
    arguments = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as directory, Cluster(RANKS, mbit=100, burst_kb=256) as cluster:
        profile = os.path.join(directory, "network.json")
        measure_costs(cluster, arguments.hierbar, profile)
        for name, size in SIZES.items():
            words = [arguments.hierbar, "advise", "-n", "4", "--nodes", "2,4", "--threads", "1", "--pattern", f"alltoall:{name}",
                     "--profile", profile, "--launcher", "openmpi", "--try", "4", "--rounds", "5", "--json", "--", arguments.alltoall,
                     str(size), "20"]
            command = ["sh", "-c", f"cd {directory} && exec {shlex.join(words)}"]
            output = run(cluster, command, 300, env=environment(cluster, directory, arguments.hierbar))
            tried = [one for one in json.loads(output)["candidates"] if "tried_s" in one]
            for one in tried:
                print(f"{name} {'+'.join(map(str, one['ranks_per_node']))} {one['pattern']}: order {one['order']}, "
                      f"{one['tried_s']['median']:.3f} s, unbound {one['default_s']['median']:.3f} s")
            best = min(one[key]["median"] for one in tried for key in ("tried_s", "default_s"))
            loss = tried[0]["tried_s"]["median"] / best - 1
            print(f"{name}: the first choice is {100 * loss:.1f} % slower than the best of {len(tried)}")
            if len(tried) < 2 or loss > 0.05:
                failures.append(f"{name}: {len(tried)} tried, the first choice {100 * loss:.1f} % slower than the best")
    print("ok" if not failures else "failed: " + "; ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    run_contained(main)
