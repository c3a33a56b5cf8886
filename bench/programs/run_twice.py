#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_twice.py PROGRAM [ARGUMENT...]: two copies of a program at once, for program_table.py.

Each copy runs in a directory of its own, copy.0 or copy.1 below the current one. What the copies
print follows in the order in which they end, so that the last figure is that of the slower copy.
The exit status is that of the first copy that fails.

Signals that ask this program to end are passed on to both copies with all their processes. What is
left of them after GRACE_S is killed. The exit status is then 128 and the signal's number."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys

ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
GRACE_S = 5.0


class Copies:
    """Each is a process group of its own, so that a copy that is a shell ends with its children. A
    terminal therefore sends ^C to this process alone.

    The handlers only send signals: Python then resumes the wait that they interrupted."""

    def __init__(self):
        # By process id: (process, folder). Of a Popen that is gone, the next one waits for the end.
        self.running = {}
        self.asked = 0  # the first signal that asked to end
        for number in ENDING:
            signal.signal(number, self.pass_on)
        signal.signal(signal.SIGALRM, lambda *_: self.send(signal.SIGKILL))

    def pass_on(self, number, _):
        if not self.asked:
            self.asked = number
            signal.setitimer(signal.ITIMER_REAL, GRACE_S)
        self.send(number)

    def send(self, number):
        for pid in list(self.running):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, number)

    def start(self, folder, command):
        folder.mkdir(exist_ok=True)
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as errors:
            process = subprocess.Popen(
                command, cwd=folder, stdout=out, stderr=errors, process_group=0
            )
        self.running[process.pid] = process, folder
        if self.asked:  # before this copy was known
            self.send(self.asked)

    def wait(self):
        """Waits for the end of one. Returns its exit status and its folder."""
        # Until it is waited for, nobody else has its process id.
        pid = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
        if self.asked:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # what the copy has left behind
        _, folder = self.running.pop(pid, (None, None))
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), folder


def main():
    copies = Copies()
    for number in range(2):
        copies.start(pathlib.Path(f"copy.{number}"), sys.argv[1:])
    failure = 0
    while copies.running:
        status, folder = copies.wait()
        if folder is None or copies.asked:
            continue
        failure = failure or status
        sys.stdout.buffer.write((folder / "stdout").read_bytes())
        sys.stderr.buffer.write((folder / "stderr").read_bytes())
    if copies.asked:
        return 128 + copies.asked
    return failure if failure >= 0 else 128 - failure


if __name__ == "__main__":
    sys.exit(main())
