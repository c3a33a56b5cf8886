# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs LLVM's lit on the test suite of one libomp build and reads its results."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import venv

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "suites"))
from compare import CannotRun, failed

# Used if the LLVM tools have no lit: the newest release before the suite's version that runs it.
LIT_REQUIREMENTS = ["lit==18.1.8", "psutil"]
# Tests that sleep for more than two minutes each. They run at the same time as all others: one
# after the other they would take longer than the rest of the suite.
SLEEPERS = r"tasking/omp_(taskyield|task_final|taskwait|task)\.c$"


def find_lit(tools_dir, work_dir):
    """Returns the command that starts lit. lit needs psutil for the time limit of each test."""
    script = tools_dir.parent / "build" / "utils" / "lit" / "lit.py"
    if script.exists():
        for python in (sys.executable, "/usr/bin/python3"):
            probe = subprocess.run([python, "-c", "import psutil"], stderr=subprocess.DEVNULL)
            if probe.returncode == 0:
                return [python, str(script)]
    environment = work_dir / "venv"
    lit = environment / "bin" / "lit"
    if not lit.exists():
        print(f"hierbar: installing lit into {environment}", flush=True)
        venv.create(environment, with_pip=True)
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        if subprocess.run(pip + LIT_REQUIREMENTS).returncode != 0:
            raise CannotRun(
                "cannot install lit; Debian's packages llvm-19-tools and python3-psutil have what is needed"
            )
    return [str(lit)]


def read_cmake_cache(build_dir, name):
    text = (build_dir / "CMakeCache.txt").read_text()
    found = re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)
    if not found:
        raise CannotRun(f"{build_dir}/CMakeCache.txt has no {name}; is it a build with libomp?")
    return found.group(1)


def for_library(site_config, library_dir, out_dir):
    """Writes another lit.site.cfg, by which the same tests run on the library in library_dir and
    leave what they make in out_dir. Returns out_dir."""
    text = site_config.read_text()
    for name, value in (("library_dir", library_dir), ("libomp_obj_root", out_dir)):
        text, count = re.subn(
            rf"^config\.{name} = .*$", f'config.{name} = "{value}"', text, flags=re.MULTILINE
        )
        if count != 1:
            raise CannotRun(f"{site_config} sets config.{name} {count} times, not once")
    out_dir.mkdir(parents=True, exist_ok=True)
    (out_dir / "lit.site.cfg").write_text(text)
    return out_dir


class Suite:
    """The tests of one libomp target of the build directory; a suite for compare.py. With
    library_dir they run on the library there in place of the target's own."""

    def __init__(self, build_dir, target, options, library_dir=None):
        tools_dir = pathlib.Path(read_cmake_cache(build_dir, "HIERBAR_LLVM_TOOLS_DIR"))
        self.name = target
        self.work_dir = build_dir / "check-libomp"
        self.work_dir.mkdir(exist_ok=True)
        self._suite_dir = build_dir / "libomp" / target / "runtime" / "test"
        self._options = options
        for tool in ("clang", "FileCheck", "not"):
            if not (tools_dir / tool).exists():
                raise CannotRun(
                    f"no {tool} in HIERBAR_LLVM_TOOLS_DIR={tools_dir}; Debian: clang-19 llvm-19-tools"
                )
        if not (self._suite_dir / "lit.site.cfg").exists():
            raise CannotRun(f"{self._suite_dir} has no lit.site.cfg; build the target {target}")
        if library_dir:
            self.name += "-elsewhere"
            self._suite_dir = for_library(
                self._suite_dir / "lit.site.cfg", library_dir, self.work_dir / self.name
            )
        version = subprocess.run(
            [tools_dir / "clang", "--version"], capture_output=True, text=True
        ).stdout.splitlines()[0]
        self.version = "clang " + re.search(r"version (\S+)", version).group(1)
        self.compiler_major = re.search(r"version (\d+)", version).group(1)
        self._lit = find_lit(tools_dir, self.work_dir)
        self._log = self.work_dir / f"{self.name}.log"
        self._log.write_text("")

    def run(self, settings, tests=None, quiet=False):
        """Runs the given tests, or else all that match the filter. Returns {test: result code}."""
        if not quiet:
            print(
                f"hierbar: {self.name}: running {' '.join(settings) or 'without variables'}",
                flush=True,
            )
        jobs = self._options["jobs"]
        if tests:
            results = self._run_lit(
                "", jobs, [str(self._suite_dir / test) for test in tests], settings, quiet
            )
        elif self._options["filter"]:
            results = self._run_lit(
                "",
                jobs,
                ["--filter", self._options["filter"], str(self._suite_dir)],
                settings,
                quiet,
            )
        else:
            with concurrent.futures.ThreadPoolExecutor(1) as beside:
                sleepers = beside.submit(
                    self._run_lit,
                    "-sleepers",
                    4,
                    ["--filter", SLEEPERS, str(self._suite_dir)],
                    settings,
                    quiet=True,
                )
                results = self._run_lit(
                    "", jobs, ["--filter-out", SLEEPERS, str(self._suite_dir)], settings, quiet
                )
                results.update(sleepers.result())
        if not results or (tests and set(results) != set(tests)):
            raise CannotRun(
                f"lit ran {sorted(results)} instead of {tests or 'the suite'}; see {self._log}"
            )
        return results

    def _run_lit(self, part, jobs, selection, settings, quiet):
        """Runs lit with its output in the log, and reports progress. Returns the result codes."""
        output = self.work_dir / f"{self.name}{part}.json"
        output.unlink(missing_ok=True)
        command = self._lit + [
            "-v",
            "-j",
            str(jobs),
            "--timeout",
            str(self._options["timeout"]),
            "--output",
            str(output),
        ]
        command += selection
        environment = dict(os.environ, CHECK_OPENMP_ENV=" ".join(settings))
        num_failed = 0
        with open(self._log, "a") as sink, subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as lit:
            for line in lit.stdout:
                sink.write(line)
                progress = re.match(r"([A-Z]+): .* \((\d+) of (\d+)\)", line)
                if not progress or quiet:
                    continue
                code, number, total = (
                    progress.group(1),
                    int(progress.group(2)),
                    int(progress.group(3)),
                )
                num_failed += failed(code)
                if number % 40 == 0 or number == total:
                    print(
                        f"hierbar: {self.name}: {number} of {total} tests, {num_failed} failed",
                        flush=True,
                    )
        if not output.exists():
            raise CannotRun(f"lit left no results; see {self._log}")
        return {
            t["name"].split(" :: ", 1)[1]: t["code"]
            for t in json.loads(output.read_text())["tests"]
        }
