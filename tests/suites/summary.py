#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints one table of the results that the suites' commands wrote with --json.

    summary.py FILE...

`unsteady` counts what failed on ours at first and then did not, or failed now and then without
ours as well. A file that is not there is a suite that did not come to an end; it makes the exit
status 1, and so does a failure with ours only.
"""

import json
import pathlib
import sys

from compare import SKIPPING_CODES

COUNTS = ("run", "passed", "failed_with_stock", "unsteady", "failed_with_ours_only")
TITLES = (
    "suite",
    "settings",
    "run",
    "passed",
    "failed with stock",
    "unsteady",
    "failed with ours only",
)


def count(codes, regressions, unsteady, shared):
    """Makes the `counts` of a result."""
    run = sum(code not in SKIPPING_CODES for code in codes.values())
    return {
        "run": run,
        "passed": run - len(regressions) - len(unsteady) - len(shared),
        "failed_with_stock": len(shared),
        "unsteady": len(unsteady),
        "failed_with_ours_only": len(regressions),
    }


def write(path, result):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")


def row(path):
    if not path.exists():
        return [path.stem, "did not come to an end"] + ["-"] * len(COUNTS)
    result = json.loads(path.read_text())
    return [result["suite"], " ".join(result["environment"]) or "none"] + [
        str(result["counts"][name]) for name in COUNTS
    ]


def table(rows):
    widths = [max(len(line[column]) for line in [TITLES, *rows]) for column in range(len(TITLES))]
    for line in [TITLES, *rows]:
        cells = [
            text.ljust(width) if column < 2 else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths))
        ]
        yield "  ".join(cells).rstrip()


def main(paths):
    rows = [row(pathlib.Path(path)) for path in paths]
    print("\n".join(table(rows)))
    return 0 if all(line[-1] == "0" for line in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
