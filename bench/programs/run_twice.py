#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_twice.py PROGRAM [ARGUMENT...]: two copies of a program at once, for program_table.py.

Each copy runs in a directory of its own, copy.0 or copy.1 below the current one. What the copies
print follows in the order in which they end, so that the last figure is that of the slower copy.
The exit status is that of the first copy that fails."""

import os
import pathlib
import subprocess
import sys


def start(number, command):
    folder = pathlib.Path(f"copy.{number}")
    folder.mkdir(exist_ok=True)
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as errors:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=errors)
    return process, folder


def main():
    copies = [start(number, sys.argv[1:]) for number in range(2)]
    by_pid = {process.pid: folder for process, folder in copies}
    failure = 0
    while by_pid:
        pid, status = os.wait()
        folder = by_pid.pop(pid, None)
        if folder is None:
            continue
        failure = failure or os.waitstatus_to_exitcode(status)
        sys.stdout.buffer.write((folder / "stdout").read_bytes())
        sys.stderr.buffer.write((folder / "stderr").read_bytes())
    return failure if failure >= 0 else 128 - failure


if __name__ == "__main__":
    sys.exit(main())
