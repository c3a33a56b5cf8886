# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What program_table.py measures of a program: its settings, and one `hierbar compare` for each."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys

import program_rows
from compare_programs import FAMILIES
from program_rows import Problem

RUN_TWICE = pathlib.Path(__file__).resolve().parent / "run_twice.py"
LONGEST_S = 3600  # of one setting; it is then ended like by ^C
LONGEST_END_S = 60  # from a signal to the end
ENDED_BY_SIGNAL, NOT_ACTIVE, BAD = 128, 3, 2  # exit codes of `hierbar compare`


@dataclasses.dataclass(frozen=True)
class Setting:
    name: str
    title: str  # of its column
    ranks: int
    threads: int
    limit: float  # a larger part of the program's time is a loss
    is_beside_busy: bool = False
    is_twice: bool = False


def settings_of(num_cpus, mpi):
    """The settings of programs with OpenMP alone, or of MPI programs."""
    double = 2 * num_cpus
    if mpi:
        sizes = ((num_cpus, 1), (1, num_cpus), (2, num_cpus), (double, 1))
        return [
            Setting(f"{ranks}x{threads}", f"{ranks} × {threads}", ranks, threads, 1.02)
            for ranks, threads in dict.fromkeys(sizes)
        ]
    return [
        Setting("alone", "alone", 1, num_cpus, 1.02),
        Setting("oversubscribed", f"{double} threads on {num_cpus} cpus", 1, double, 1.02),
        Setting("busy", "beside a busy process", 1, num_cpus, 1.05, is_beside_busy=True),
        Setting("two", "two at once", 1, num_cpus, 1.02, is_twice=True),
    ]


SETTING_NAMES = ("alone", "oversubscribed", "busy", "two", "RANKSxTHREADS")


@contextlib.contextmanager
def busy_process():
    """A process that uses a cpu, and ends with this one however this one ends."""
    code = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n  sum(range(10**6))"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def program_command(row, setting, num_cpus):
    sizes = {"threads": setting.threads, "ranks": setting.ranks}
    command = row.filled(row.command, **sizes)
    if row.mpi:
        command = program_rows.launch(row, setting.ranks, setting.threads, num_cpus) + command
    return [sys.executable, str(RUN_TWICE)] * setting.is_twice + command


def compare_command(row, setting, options):
    """`hierbar compare` without its --json, which names a file."""
    command = [str(options.hierbar), "compare"]
    command += ["--runs", str(options.pairs)] if options.pairs else []
    command += ["--time-limit", str(options.time_limit)]
    command += ["--time", row.time] * bool(row.time) + ["--rate"] * row.rate
    command += ["--result", row.result] * bool(row.result)
    command += ["--ignore-output"] * row.ignore_output
    command += ["--mpi", row.mpi] * bool(row.mpi)
    return [*command, "--", *program_command(row, setting, options.cpus)]


def environment_of(row, setting):
    result = {name: value for name, value in os.environ.items() if not name.startswith(FAMILIES)}
    result["OMP_NUM_THREADS"] = str(setting.threads)
    sizes = {"threads": setting.threads, "ranks": setting.ranks}
    return result | {name: row.fill(value, **sizes) for name, value in row.environment.items()}


def run_compare(row, setting, options, json_file):
    """Returns the exit code and the end of what it says."""
    folder = row.place / "run"
    folder.mkdir(parents=True, exist_ok=True)
    command = compare_command(row, setting, options)
    split = command.index("--")
    process = subprocess.Popen(
        [*command[:split], "--quiet", "--json", str(json_file), *command[split:]],
        cwd=folder,
        env=environment_of(row, setting),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    said = ""
    try:
        said, _ = process.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # it tells what it has
        with contextlib.suppress(subprocess.TimeoutExpired):
            said, _ = process.communicate(timeout=LONGEST_END_S)
    finally:
        if process.poll() is None:  # this program is asked to end, or that one does not end
            process.terminate()
            try:
                process.wait(LONGEST_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    return process.returncode, said.strip()


def measure(row, setting, options):
    """One setting of one program. Returns what the file of its result holds."""
    json_file = row.place / "compare.json"
    json_file.unlink(missing_ok=True)
    with busy_process() if setting.is_beside_busy else contextlib.nullcontext():
        status, said = run_compare(row, setting, options, json_file)
    if status == BAD or not json_file.exists():
        raise Problem(f"{row.name}, {setting.name}: status {status}: {said[-400:]}")
    return {
        "program": row.name,
        "setting": setting.name,
        "command": compare_command(row, setting, options),
        "versions": program_rows.versions_of(row),
        "exit_status": status,
        "said": said,
        "compare": json.loads(json_file.read_text()),
    }
