#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs under_quota in a control group with the time of one cpu.

A group is made where this user may make one, and removed. Otherwise the test is skipped.
"""

import argparse
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run_omp_test

SKIPPED = 77
CASES = ["between_regions", "at_barriers", "at_critical_sections", "in_ordered_loops"]
PERIOD_US = 20_000


def mounts(kind):
    for line in pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, where, kind_of_it, options = line.split()[:4]
        if kind_of_it == kind:
            yield pathlib.Path(where), options.split(",")


def own_path(controller):
    """The group of this process in the hierarchy of a controller; "": the one of version 2."""
    for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path.lstrip("/")
    return ""


def make_group():
    name = f"hierbar-quota-test-{os.getpid()}"
    for mount, options in mounts("cgroup"):
        if "cpu" in options:
            group = mount / own_path("cpu") / name
            group.mkdir()
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US), encoding="ascii")
            (group / "cpu.cfs_quota_us").write_text(str(PERIOD_US), encoding="ascii")
            return group
    for mount, _ in mounts("cgroup2"):
        group = mount / own_path("") / name
        group.mkdir()
        try:
            (group / "cpu.max").write_text(f"{PERIOD_US} {PERIOD_US}", encoding="ascii")
        except OSError:
            group.rmdir()
            raise
        return group
    raise OSError("no control groups are mounted")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--lib-dir", required=True, help="where libomp.so is")
    arguments = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: one cpu has no more time than the quota")
        return SKIPPED
    try:
        group = make_group()
    except OSError as error:
        print(f"skipped: no control group can be made here: {error}")
        return SKIPPED
    environment = run_omp_test.make_environment(arguments.lib_dir, [])
    enter = ["sh", "-c", f'echo $$ >"{group}/cgroup.procs" && exec "$@"', "sh"]
    failed = []
    try:
        for case in CASES:
            run = subprocess.run(
                [*enter, arguments.program, case],
                env=environment,
                text=True,
                capture_output=True,
                timeout=120,
            )
            print(f"{case}: {run.stdout.strip()}")
            if run.returncode != 0:
                print(run.stderr)
                failed.append(case)
    finally:
        group.rmdir()
    print("failed: " + ", ".join(failed) if failed else "ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
