#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether HIERBAR_MPI_MEETING=auto finds what is best, on a cluster of one rank per node.

    auto_test.py --nodes 3 --delay-us 5000 --delay-line DELAY_LINE --shim libhierbar_mpi_ompi.so --program meeting_times
    auto_test.py --nodes 3,4,5,6 --fixed linear,tree:1,dissemination:1,dissemination:2 ...
    auto_test.py --nodes 2 --delay-us 0 ...            the nodes are joined by cables

Each run measures a meeting and the library's own barrier in turns. A figure is the median of the
batches' ratios of the two, so what else the machine does counts for both. `auto` may take 1.05
times the library, and 1.05 times the best of --fixed. The machine's disturbances are not this
test's: of --attempts, one must succeed.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys

import cluster

LIMIT = 1.05
TIMEOUT_S = 120


def measure(arguments, nodes, meeting):
    """The meeting's median time in us, its ratio to the library's, and what it says of its trial."""
    settings = {
        "LD_PRELOAD": arguments.shim,
        "HIERBAR_MPI_MEETING": meeting,
        "HIERBAR_VERBOSE": "1",
        "HIERBAR_NETWORK": arguments.network or "off",
    }
    status, output, errors = nodes.run(
        [
            *cluster.launch_line(arguments, len(nodes.addresses), settings),
            arguments.program,
            str(arguments.batches),
            str(arguments.barriers),
        ],
        TIMEOUT_S,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if status != 0:
        raise cluster.Failure(f"{meeting}: status {status}\n{output}{errors}")
    times = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
    ratios = [a / b for a, b in zip(times["meeting"], times["library"])]
    said = re.search(r"trial: .*", output + errors)
    return (
        statistics.median(times["meeting"]),
        statistics.median(ratios),
        said.group() if said else "",
    )


def distinct(meetings, num_nodes):
    """Without those that are the same schedule among so many nodes: a leader sends to each other
    one once at most."""

    def smallest(meeting):
        name, _, k = meeting.partition(":")
        return f"{name}:{min(int(k), num_nodes - 1)}" if name == "dissemination" else meeting

    return list(dict.fromkeys(map(smallest, meetings)))


def judge_once(arguments, nodes):
    """What is wrong, None when nothing is."""
    auto_us, auto, trial = measure(arguments, nodes, "auto")
    if "trial" not in trial:  # times that differ much, as beside other processes, need more meetings
        arguments.batches *= 2
        return "auto says nothing of a trial"
    print(
        f"{len(nodes.addresses)} nodes: auto {auto_us / 1000:.2f} ms, {auto:.3f} of the library's; {trial}"
    )
    ratios = {"the library": 1.0}
    for meeting in distinct(arguments.fixed, len(nodes.addresses)):
        fixed_us, ratios[meeting], _ = measure(arguments, nodes, meeting)
        print(f"    {meeting:20} {fixed_us / 1000:7.2f} ms  {ratios[meeting]:.3f}", flush=True)
    if auto > LIMIT:
        return f"auto takes {auto:.3f} times the library"
    best = min(ratios, key=ratios.get)
    if auto > LIMIT * ratios[best]:
        return f"auto takes {auto / ratios[best]:.3f} times {best}"
    return None


def judge(arguments, num_nodes):
    delay_us = arguments.delay_us if arguments.delay_us > 0 else None
    with cluster.Cluster(num_nodes, delay_us, delay_line=arguments.delay_line) as nodes:
        for attempt in range(arguments.attempts):
            problem = judge_once(arguments, nodes)
            if problem is None:
                return
            print(f"    attempt {attempt + 1}: {problem}", flush=True)
    raise cluster.Failure(f"{num_nodes} nodes: {problem}")


def read_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", default="3", help="a comma list")
    parser.add_argument("--delay-us", type=int, default=5000, help="0: cables")
    parser.add_argument("--fixed", default="", help="a comma list of schedules to compare with")
    parser.add_argument(
        "--network", help="a file of networks; default: none, so that auto assumes costs"
    )
    parser.add_argument("--batches", type=int, default=15)
    parser.add_argument("--barriers", type=int, default=6, help="in a batch")
    parser.add_argument("--attempts", type=int, default=3)
    cluster.add_mpi_arguments(parser)
    for name in "delay-line", "shim", "program":
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    arguments.fixed = [word for word in arguments.fixed.split(",") if word]
    return arguments


def judge_all(arguments):
    for num_nodes in map(int, arguments.nodes.split(",")):
        judge(arguments, num_nodes)


def main():
    arguments = read_arguments()
    return cluster.status_of(judge_all, arguments)


if __name__ == "__main__":
    cluster.contain()
    sys.exit(main())
