# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GCC's tests of libgomp as a suite for compare.py: their programs on the library in one directory, or
on what the loader finds; and those that may fail on our library.

These are in the table of GOMP.md under HEADING. Each row is `| program, program | reason |`.
"""

import concurrent.futures
import os
import re
import signal
import subprocess
import tempfile

from compare import CannotRun, failed

CLEARED = ("OMP_", "KMP_", "GOMP_", "HIERBAR_")


class GccSuite:
    """Runs programs and judges each. `failures` keeps the end of what a failed one wrote."""

    def __init__(self, name, version, work_dir, programs, tests, library_dir, jobs, timeout):
        self.name, self.version, self.work_dir = name, version, work_dir
        self.failures = {}
        self._programs = programs
        self._tests = tests
        self._library_dir = library_dir
        self._jobs = jobs
        self._timeout = timeout

    def run(self, settings, tests=None, quiet=False):
        tests = self._tests if tests is None else tests
        with concurrent.futures.ThreadPoolExecutor(self._jobs) as pool:
            codes = dict(zip(tests, pool.map(lambda test: self._run_one(test, settings), tests)))
        if not quiet:
            print(
                f"hierbar: {self.name}: {len(codes)} programs, {sum(map(failed, codes.values()))} failed",
                flush=True,
            )
        return codes

    def _environment(self, program, settings):
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(CLEARED)
        }
        environment["HIERBAR_PROFILE"] = "off"
        if self._library_dir:
            environment["LD_LIBRARY_PATH"] = str(self._library_dir)
        environment.update(setting.split("=", 1) for setting in settings)
        environment.update(program.test.environment)
        return environment

    def _run_one(self, name, settings):
        program = self._programs.all[name]
        with tempfile.TemporaryDirectory(
            dir=self.work_dir
        ) as directory, tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                [program.path],
                env=self._environment(program, settings),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=directory,
                start_new_session=True,
            )
            try:
                status = process.wait(self._timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                status = None
            output.seek(0)
            text = output.read(1 << 20).decode(errors="replace")
        code, reason = judge(program.test, status, text)
        if failed(code):
            self.failures[name] = f"{reason}: {' | '.join(text.strip().splitlines()[-2:])[:300]}"
        return code


def judge(test, status, text):
    """What to call a program's end, and why; status is None when it did not come to one."""
    if status is None:
        return "TIMEOUT", "did not end"
    if (status != 0) != test.should_fail:
        return "FAIL", (
            f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        )
    if test.output and not re.search(test.output, text):
        return "FAIL", "not the expected output"
    return "PASS", ""


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
