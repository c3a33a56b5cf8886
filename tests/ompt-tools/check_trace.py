#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a trace in Chrome's JSON format as a viewer needs it: names, times, and slices that are
nested strictly.

    check_trace.py FILE...

check(trace) returns what is wrong. Shares nothing with what writes the traces.
"""

import collections
import decimal
import json
import sys

STEPS = {"barrier", "gather", "exchange", "release", "imbalance", "sync", "task"}


def check_nesting(slices):
    """Of one thread: any two are disjoint, or one is inside the other; steps are inside a barrier."""
    problems = []
    around = []
    for begin, end, name in sorted(slices, key=lambda s: (s[0], -s[1], s[2] != "barrier")):
        while (
            around
            and around[-1][1] <= begin
            and not (begin == end == around[-1][1] and name != "barrier")
        ):
            around.pop()
        if around and end > around[-1][1]:
            problems.append(
                f"{name} {begin}-{end} sticks out of {around[-1][2]} {around[-1][0]}-{around[-1][1]}"
            )
        if name != "barrier" and not any(other == "barrier" for _, _, other in around):
            problems.append(f"{name} {begin}-{end} is in no barrier")
        around.append((begin, end, name))
    return problems


def check(text):
    trace = json.loads(text, parse_float=decimal.Decimal)
    problems = []
    if trace["displayTimeUnit"] != "ns":
        problems.append("displayTimeUnit is not ns")
    processes, threads = {}, {}
    slices = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["pid"] <= 0:
            problems.append(f"a process {event['pid']}, which viewers leave out")
        if event["ph"] == "M":
            {"process_name": processes, "thread_name": threads}.get(event["name"], {})[
                event["pid"], event["tid"]
            ] = event["args"]
            continue
        if event["ph"] != "X" or event["name"] not in STEPS:
            problems.append(f"an unknown event {event}")
        if event["tid"] <= 0 or event["ts"] < 0 or event["dur"] < 0:
            problems.append(f"impossible numbers: {event}")
        if event["name"] == "barrier" and not (event["cat"] and event["args"]["site"]):
            problems.append("a barrier without a site")
        slices[event["pid"], event["tid"]].append(
            (event["ts"], event["ts"] + event["dur"], event["name"])
        )
    for pid, tid in slices:
        if (pid, 0) not in processes or (pid, tid) not in threads:
            problems.append(f"no name for process {pid}, thread {tid}")
    names = [name["name"] for name in processes.values()]
    if len(set(names)) != len(names):
        problems.append(f"two processes of one name: {names}")
    for key, of_thread in slices.items():
        problems += [f"{key}: {problem}" for problem in check_nesting(of_thread)]
    return problems


def main():
    failed = False
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            for problem in check(file.read()):
                print(f"{name}: {problem}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
