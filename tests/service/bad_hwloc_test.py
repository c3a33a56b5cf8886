#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What libhierbar.so makes of an hwloc that cannot be used.

    bad_hwloc_test.py libhierbar.so libhierbar_hwloc.so

A copy of libhierbar.so gets different files beside it, and is loaded in several ways. Teams of four
or fewer never need hwloc. Larger ones get a plan in any case, and one message if it cannot be the
machine's.
"""

import ctypes
import os
import pathlib
import shutil
import sys
import tempfile

LARGEST_WITHOUT_MACHINE = 4
ListenerType = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)

failures = 0


def check(what, is_right, seen):
    global failures
    if not is_right:
        failures += 1
        print(f"FAILED: {what}: {seen}")


def messages_of_plan(library, num_participants):
    """What is reported while a plan is made; None if there is none in the end."""
    messages = []
    listener = ListenerType(lambda _, line: messages.append(line.decode()))
    plan = ctypes.c_void_p()
    error = library.hierbar_plan_create(
        ctypes.c_uint32(num_participants), None, listener, None, ctypes.byref(plan)
    )
    if error != 0 or not plan:
        return None
    library.hierbar_plan_destroy(plan)
    return messages


def load_beside(directory, libhierbar, companion):
    """A copy of libhierbar.so. Calls `companion` with the path of its companion."""
    directory.mkdir()
    copy = directory / "libhierbar.so.0"
    shutil.copy(libhierbar, copy)
    companion(directory / "libhierbar_hwloc.so.0")
    return ctypes.CDLL(str(copy))


def messages_after_chdir(libhierbar, with_hwloc, work):
    """Loaded by a relative path, as with LD_LIBRARY_PATH=lib, in a program that then moves."""
    os.chdir(work)
    library = load_beside(
        pathlib.Path("relative"), libhierbar, lambda path: shutil.copy(with_hwloc, path)
    )
    os.chdir("/")
    messages = messages_of_plan(library, LARGEST_WITHOUT_MACHINE + 1)
    return None if messages is None else [one for one in messages if "hwloc" in one]


def main():
    libhierbar, with_hwloc = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work).resolve()
        # First: the loader would take a companion that it has already loaded.
        messages = messages_after_chdir(libhierbar, with_hwloc, work)
        check("found from another working directory", messages == [], messages)

        good = load_beside(work / "good", libhierbar, lambda path: shutil.copy(with_hwloc, path))
        bad = load_beside(work / "bad", libhierbar, lambda path: path.write_text("not a library"))
        other = load_beside(work / "other", libhierbar, lambda path: path.symlink_to(libhierbar))

        messages = messages_of_plan(good, LARGEST_WITHOUT_MACHINE + 1)
        check("a good one gives a plan", messages is not None, messages)
        check("and nothing to complain of", not any("hwloc" in one for one in messages), messages)
        for name, library in (("bad", bad), ("other", other)):
            messages = messages_of_plan(library, LARGEST_WITHOUT_MACHINE)
            check(f"{name}: a small team does without", messages == [], messages)
            for expected in (1, 0):
                messages = messages_of_plan(library, LARGEST_WITHOUT_MACHINE + 1)
                check(f"{name}: a larger one gets a plan", messages is not None, messages)
                told = [one for one in messages or [] if "hwloc cannot be used" in one]
                check(f"{name}: it is told once", len(told) == expected, messages)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
