# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of GCC's that may fail on our library: the table of GOMP.md under this heading.
Each row is `| program, program | reason |`."""

import re

from compare import CannotRun

HEADING = "## GCC's own tests"


class Known:
    """Names of programs, each with the reason why it may fail."""

    def __init__(self, reasons):
        self._reasons = reasons

    def reason(self, name):
        return self._reasons.get(name)

    def stale(self, codes):
        """Those that ran, did not fail, and hence need not be listed."""
        return sorted(name for name in self._reasons if name in codes and codes[name] == "PASS")


def read_known(path):
    section = path.read_text().partition(HEADING)[2].partition("\n## ")[0]
    reasons = {}
    for line in section.splitlines():
        match = re.match(r"\|\s*([^|]*?)\s*\|\s*([^|]*?)\s*\|$", line)
        if not match or match[1] == "program" or set(match[1]) == {"-"}:
            continue
        if not match[2]:
            raise CannotRun(f"{path}: '{match[1]}' has no reason")
        reasons.update((name.strip(), match[2]) for name in match[1].split(","))
    return Known(reasons)
