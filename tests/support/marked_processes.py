# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds what a test has started, also in sessions of its own, by a variable in its environment."""

import pathlib


def marked_processes(mark):
    """The ids of the processes that have `mark` (NAME=VALUE) in their environment."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:  # it has ended, or is somebody else's
            continue
    return found
