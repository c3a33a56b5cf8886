#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether `hierbar tune --between-nodes` measures the network of a cluster: an added delay is found in L,
two distances are two classes.

tune_network_test.py --delay-line DELAY_LINE --hierbar build/release/bin/hierbar --mpiexec
mpiexec.openmpi
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import cluster

# A round trip of these is long against the scheduler's time slices of some milliseconds.
NEAR_US = 5000
FAR_US = 15000
TOLERANCE = 0.1
ATTEMPTS = 3


def check(condition, what):
    if not condition:
        raise cluster.Failure(what)


def tune(arguments, nodes, path, time_limit_s, *options):
    """The networks of the file, the new one last."""
    num_nodes = len(nodes.addresses)
    status, _, errors = nodes.run(
        [
            arguments.hierbar,
            "tune",
            "--between-nodes",
            "--quiet",
            "--output",
            path,
            "--time-limit",
            str(time_limit_s),
            *options,
            "--",
            arguments.mpiexec,
            "{ompi}",
            "-n",
            str(num_nodes),
        ],
        time_limit_s + 70,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    check(status == 0, f"{num_nodes} nodes: status {status}\n{errors}")
    with open(path, encoding="utf-8") as file:
        return json.load(file)["networks"]


def check_delay_once(arguments, path):
    latency_us = {}
    for delay_us in NEAR_US, FAR_US:
        with cluster.Cluster(2, delay_us, delay_line=arguments.delay_line) as nodes:
            network = tune(arguments, nodes, path, 5 if delay_us == NEAR_US else 10)[-1]
        check(len(network["classes"]) == 1, f"one pair, {len(network['classes'])} classes")
        latency_us[delay_us] = network["classes"][0]["L_us"]["median"]
    grown_us = latency_us[FAR_US] - latency_us[NEAR_US]
    print(
        f"L is {latency_us[NEAR_US]:.0f} us with a delay of {NEAR_US} us, and {grown_us:.0f} us more with {FAR_US - NEAR_US} us more"
    )
    check(abs(grown_us / (FAR_US - NEAR_US) - 1) <= TOLERANCE, "that is not within 10 %")


def check_delay(arguments, path):
    # What else the machine does may double a round trip.
    for _ in range(ATTEMPTS - 1):
        try:
            return check_delay_once(arguments, path)
        except cluster.Failure as failure:
            print(failure)
    return check_delay_once(arguments, path)


def check_classes(arguments, path):
    with cluster.Cluster(3, NEAR_US, FAR_US, delay_line=arguments.delay_line) as nodes:
        networks = tune(arguments, nodes, path, 12, "--oversubscribed")
    classes = networks[-1]["classes"]
    print(
        "3 nodes: "
        + ", ".join(f"{one['name']}: L {one['L_us']['median']:.0f} us" for one in classes)
    )
    check(len(classes) == 2, "two distances are not two classes")
    check(sum(one["pairs"] for one in classes) == 3, "not all three pairs were measured")
    check(
        [network["nodes"] for network in networks] == [2, 3], "the network of two nodes is not kept"
    )
    check(
        any("3 ranks for" in note for note in networks[-1]["notes"]) or os.cpu_count() >= 3,
        "nobody says that ranks outnumber cpus",
    )
    meet = subprocess.run(
        [arguments.hierbar, "meet", "--nodes", "3", "--network", path],
        stdout=subprocess.PIPE,
        text=True,
        timeout=30,
    )
    check(meet.returncode == 0, "hierbar meet does not take the file")


def check_all(arguments):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "network.json")
        check_delay(arguments, path)
        check_classes(arguments, path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--delay-line", required=True)
    parser.add_argument("--hierbar", required=True)
    parser.add_argument("--mpiexec", default="mpiexec.openmpi")
    arguments = parser.parse_args()
    return cluster.status_of(check_all, arguments)


if __name__ == "__main__":
    cluster.contain()
    sys.exit(main())
