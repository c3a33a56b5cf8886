#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a cluster on one machine is what cluster.py says: nodes of their own, packets that are
late, bandwidth with a limit.

cluster_test.py --delay-line build/release/tests/network/delay_line
"""

import argparse
import json
import pathlib
import sys
import time

import cluster

DELAY_US = 8000
FAR_US = 20000
MBIT = 100
NUM_BYTES = 3 << 20

# What a node is, as one line of JSON.
DESCRIBE = """
import json, os, socket, sys, time
open("/dev/shm/" + socket.gethostname(), "w").close()
print(json.dumps({"host": socket.gethostname(), "memory": os.listdir("/dev/shm"), "clock": time.monotonic()}))
"""
# Answers each connection: `server.py ADDRESS`. Takes all bytes and sends one back when "!" has come.
SERVE = """
import socket, sys
with socket.create_server((sys.argv[1], 7000)) as server:
    print("ready", flush=True)
    while True:
        connection, _ = server.accept()
        with connection:
            while data := connection.recv(1 << 20):
                if data.endswith(b"!"):
                    connection.sendall(b"?")
"""
# `client.py ADDRESS BYTES`: prints the least of ten times from the first byte to the answer.
ASK = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], 7000))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
def ask():
    start = time.monotonic()
    connection.sendall(b"." * (int(sys.argv[2]) - 1) + b"!")
    connection.recv(1)
    return time.monotonic() - start
print(min(ask() for _ in range(10 if sys.argv[2] == "1" else 2)))
"""


def output_of(nodes, node, program, *arguments):
    status, output, _ = nodes.run(
        ["python3", "-c", program, *arguments], 30, node, stdout=cluster.subprocess.PIPE
    )
    if status != 0:
        raise AssertionError(f"node {node}: status {status}")
    return output


def time_to(nodes, client, server, num_bytes):
    """Seconds from the first byte until the answer has come."""
    address = nodes.addresses[server]
    process = cluster.start(
        nodes.command_on(server, ["python3", "-c", SERVE, address]), stdout=cluster.subprocess.PIPE
    )
    try:
        assert process.stdout.readline() == "ready\n"
        return float(output_of(nodes, client, ASK, address, str(num_bytes)))
    finally:
        process.kill()
        process.wait()


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def check_nodes(nodes):
    seen = [json.loads(output_of(nodes, node, DESCRIBE)) for node in range(len(nodes.addresses))]
    for index, node in enumerate(seen):
        check(
            node["host"] == f"node{index}" and node["memory"] == [node["host"]],
            f"node {index} is {node}",
        )
    days = [round((node["clock"] - seen[0]["clock"]) / 86400) for node in seen]
    check(days == list(range(len(seen))), f"the clocks differ by {days} days")


def check_delays(delay_line):
    with cluster.Cluster(4, DELAY_US, FAR_US, delay_line=delay_line) as nodes:
        check_nodes(nodes)
        for server, one_way_us in (1, DELAY_US), (2, FAR_US):
            # The rest is the scheduler's, whose time slices are not this test's.
            took_us = time_to(nodes, 0, server, 1) * 1e6
            check(
                2 * one_way_us <= took_us < 3 * one_way_us,
                f"a round trip to node {server} takes {took_us:.0f} us",
            )
            print(f"round trip to node {server}: {took_us:.0f} us of {2 * one_way_us}")


def check_bandwidth():
    with cluster.Cluster(2, mbit=MBIT) as nodes:
        mbit = 8e-6 * NUM_BYTES / time_to(nodes, 0, 1, NUM_BYTES)
        check(0.5 * MBIT < mbit < 1.1 * MBIT, f"{mbit:.0f} Mbit/s")
        print(f"bandwidth: {mbit:.0f} of {MBIT} Mbit/s")


def processes_left():
    """All but this one, the first process of its namespace, and those that have ended."""
    left = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            state = (path / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if path.name != "1" and state not in "ZX":
            left.append(path.name)
    return left


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--delay-line", required=True)
    arguments = parser.parse_args()
    try:
        check_delays(arguments.delay_line)
        check_bandwidth()
    except cluster.NotPossible as reason:
        print(f"skipped: no cluster: {reason}")
        return cluster.SKIPPED
    except AssertionError as problem:
        print(f"FAILED: {problem}")
        return 1
    end = time.monotonic() + 10
    while left := processes_left():
        if time.monotonic() > end:
            print(f"FAILED: processes are left: {left}")
            return 1
        time.sleep(0.01)
    return 0


if __name__ == "__main__":
    cluster.contain()
    sys.exit(main())
