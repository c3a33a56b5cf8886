#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts ranks with MPICH's mpiexec and looks where libomp puts their threads.

    placement_test.py --lib-dir build/release/lib [--stock-dir build/release/stock/lib] \\
        --count-loads count_loads.so PROGRAM...

PROGRAM is `placed`, compiled by Clang or by GCC. What must be exactly stock is compared with the
library in --stock-dir or, when it has not been built, with the one under test without KMP_BARRIER.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import run_omp_test

LINE = re.compile(r"^rank=(\S+) threads=(\d+) procs=(\d+) max=(\d+) cpus=(\S+)$", re.MULTILINE)
SHARED_MEMORY = pathlib.Path("/dev/shm")
TIMEOUT_S = 30
SKIPPED = run_omp_test.SKIPPED


class Run:
    """What the ranks printed, by rank: team size, omp_get_num_procs(), default team size, the cpus
    of each thread.
    """

    def __init__(self, done):
        self.code, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.ranks = {}
        for rank, threads, procs, default, cpus in LINE.findall(done.stdout):
            places = [frozenset(map(int, place.split(","))) for place in cpus.split("|")]
            self.ranks[rank] = int(threads), int(procs), int(default), places

    def lines(self):
        return sorted(self.stdout.splitlines())


class Trial:
    def __init__(self, arguments, program):
        self.arguments, self.program, self.problems = arguments, program, []
        self.cpus = frozenset(os.sched_getaffinity(0))

    def environment(self, settings, stock=False):
        lib_dir = self.arguments.lib_dir
        if stock:
            settings = ["KMP_BARRIER", "HIERBAR_VERBOSE", *settings]
            if (self.arguments.stock_dir / "libomp.so").exists():
                lib_dir = self.arguments.stock_dir
        environment = run_omp_test.make_environment(lib_dir, settings)
        return {
            name: value
            for name, value in environment.items()
            if not name.startswith(("SLURM_", "PMI_", "MPI_"))
        }

    def run(self, launch, *settings, stock=False, arguments=()):
        command = [
            word
            for part in launch
            for word in ([self.program, *arguments] if part == "PROGRAM" else [part])
        ]
        return Run(
            subprocess.run(
                command,
                env=self.environment(settings, stock),
                stdin=subprocess.DEVNULL,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                timeout=TIMEOUT_S,
            )
        )

    def expect(self, condition, run, text):
        if not condition:
            self.problems.append(f"{text}\n--- stdout\n{run.stdout}--- stderr\n{run.stderr}")


def mpiexec(*words):
    return [shutil.which("mpiexec.mpich"), *words]


def bound_rank_gets_the_node(trial):
    run = trial.run(mpiexec("-bind-to", "core", "-n", "1", "PROGRAM"), "OMP_NUM_THREADS=2")
    trial.expect(
        run.ranks == {"0": (2, len(trial.cpus), 2, [trial.cpus] * 2)},
        run,
        "both threads may use all cpus",
    )
    run = trial.run(
        mpiexec("-bind-to", "core", "-n", "1", "PROGRAM"), "OMP_NUM_THREADS=2", "OMP_PLACES=threads"
    )
    places = run.ranks["0"][3]
    trial.expect(
        len(places) == 2 and all(len(place) == 1 for place in places) and places[0] != places[1],
        run,
        "OMP_PLACES=threads: each thread has a cpu of its own",
    )


def thread_counts_stay(trial):
    run = trial.run(mpiexec("-bind-to", "core", "-n", "1", "PROGRAM"))
    trial.expect(
        run.ranks["0"][0] == 1 and len(run.ranks["0"][3][0]) == 1,
        run,
        "no OMP_NUM_THREADS: as many threads as given cpus",
    )
    run = trial.run(mpiexec("-bind-to", "core", "-n", "1", "PROGRAM"), arguments=["--clause", "2"])
    trial.expect(
        run.ranks == {"0": (2, len(trial.cpus), 1, [trial.cpus] * 2)},
        run,
        "num_threads(2): the default stays 1",
    )


def team_sizes_of_the_share(trial):
    share = "HIERBAR_PLACE=threads=share"
    run = trial.run(mpiexec("-bind-to", "core", "-n", "1", "PROGRAM"), share)
    trial.expect(
        run.ranks
        == {
            "0": (len(trial.cpus), len(trial.cpus), len(trial.cpus), [trial.cpus] * len(trial.cpus))
        },
        run,
        "a thread for each cpu of the share",
    )
    run = trial.run(mpiexec("-n", "2", "PROGRAM"), share, "OMP_PLACES=threads")
    teams = [
        (threads, default, len(frozenset().union(*places)))
        for threads, _, default, places in run.ranks.values()
    ]
    trial.expect(
        len(teams) == 2
        and all(threads == default == cpus for threads, default, cpus in teams)
        and sum(cpus for *_, cpus in teams) == len(trial.cpus),
        run,
        "two ranks: together as many threads as cpus",
    )
    run = trial.run(mpiexec("-bind-to", "core", "-n", "1", "PROGRAM"), share, "OMP_NUM_THREADS=1")
    trial.expect(run.ranks["0"][0] == run.ranks["0"][2] == 1, run, "OMP_NUM_THREADS=1 stays")
    run = trial.run(
        mpiexec("-bind-to", "core", "-n", "1", "PROGRAM"), "HIERBAR_PLACE=check,threads=share"
    )
    trial.expect(
        run.ranks["0"][0] == 1
        and run.stderr.count(f"for teams of {len(trial.cpus)} in place of") == 1,
        run,
        "check says what would be done",
    )


def unbound_ranks_share_out(trial):
    run = trial.run(mpiexec("-n", "2", "PROGRAM"), "OMP_NUM_THREADS=1")
    shares = [places[0] for *_, places in run.ranks.values()]
    trial.expect(
        len(shares) == 2 and not shares[0] & shares[1] and shares[0] | shares[1] == trial.cpus,
        run,
        "two disjoint shares",
    )


def bound_only_with_own_cpus(trial):
    """HIERBAR_BIND=share, as `hierbar run` sets it: one cpu for each thread of a share, and all
    cpus for all threads without one.
    """
    run_settings = (
        "HIERBAR_BIND=share",
        "HIERBAR_PRIMARY=free",
        "KMP_AFFINITY=granularity=core,compact,reset",
    )
    run = trial.run(
        mpiexec("-bind-to", "core", "-n", "1", "PROGRAM"), "OMP_NUM_THREADS=2", *run_settings
    )
    places = run.ranks["0"][3]
    trial.expect(
        places[0].isdisjoint(places[1]),
        run,
        "a share: the worker is bound to another core than the rank was given",
    )
    for launch in (
        ["PROGRAM"],
        mpiexec("-n", "1", "PROGRAM"),
        mpiexec("-n", str(2 * len(trial.cpus)), "PROGRAM"),
    ):
        for threads in 1, 2:
            run = trial.run(launch, f"OMP_NUM_THREADS={threads}", *run_settings)
            trial.expect(
                run.ranks and all(rank[3] == [trial.cpus] * threads for rank in run.ranks.values()),
                run,
                f"{' '.join(launch)}, {threads} threads: nothing shows that the cpus are its own, so nobody is bound",
            )


def one_rank_loads_the_machine(trial):
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "loads"
        command = mpiexec(
            "-n",
            "2",
            "-env",
            "LD_PRELOAD",
            trial.arguments.count_loads,
            "-env",
            "COUNT_LOADS",
            str(path),
            "PROGRAM",
        )
        # A team of 8 needs the machine for its plan as well.
        run = trial.run(
            command, "OMP_NUM_THREADS=1", "OMP_DYNAMIC=false", arguments=["--then", "8"]
        )
        loads = path.read_text().count("load") if path.exists() else 0
        trial.expect(loads == 1 and len(run.ranks) == 2, run, f"one load, not {loads}")


def too_many_threads_are_left_alone(trial):
    num_threads = f"OMP_NUM_THREADS={len(trial.cpus)}"
    run = trial.run(mpiexec("-n", "2", "PROGRAM"), num_threads)
    stock = trial.run(mpiexec("-n", "2", "PROGRAM"), num_threads, stock=True)
    trial.expect(run.lines() == stock.lines(), run, f"as stock, which says {stock.stdout}")
    trial.expect(
        run.stderr.count(f"{2 * len(trial.cpus)} threads for {len(trial.cpus)} cpus") == 2,
        run,
        "both say why",
    )


def different_thread_counts_agree(trial):
    command = mpiexec(
        "-n",
        "1",
        "-env",
        "OMP_NUM_THREADS",
        "1",
        "PROGRAM",
        ":",
        "-n",
        "1",
        "-env",
        "OMP_NUM_THREADS",
        str(len(trial.cpus)),
        "PROGRAM",
    )
    run = trial.run(command)
    trial.expect(
        run.stderr.count(f"{1 + len(trial.cpus)} threads for {len(trial.cpus)} cpus") == 2,
        run,
        "both know both counts",
    )
    # One number is given, the other one is what it leaves.
    run = trial.run(
        mpiexec("-n", "1", "-env", "OMP_NUM_THREADS", "1", "PROGRAM", ":", "-n", "1", "PROGRAM"),
        "HIERBAR_PLACE=threads=share",
    )
    first, second = (run.ranks.get(rank, (0, 0, 0, [frozenset()])) for rank in "01")
    trial.expect(
        (first[0], second[0]) == (1, len(trial.cpus) - 1)
        and not first[3][0] & second[3][0]
        and run.stderr.count("place: placed:") == 2,
        run,
        "both act on one verdict",
    )


def never_outside(trial):
    one = min(trial.cpus)
    run = trial.run(
        ["taskset", "-c", str(one), *mpiexec("-n", "1", "PROGRAM")], "OMP_NUM_THREADS=2"
    )
    trial.expect(
        "0" in run.ranks and run.ranks["0"][3] == [frozenset({one})] * 2,
        run,
        "only the cpu of taskset",
    )


def what_the_program_does_itself_stays(trial):
    run = trial.run(mpiexec("-n", "1", "PROGRAM"), "OMP_NUM_THREADS=2", arguments=["--bind"])
    trial.expect(
        run.ranks["0"][3] == [frozenset({min(trial.cpus)})] * 2,
        run,
        "the cpu that it bound itself to",
    )
    trial.expect(run.stderr.count("bound itself") == 1, run, "and why")


def exactly_stock(trial):
    bound = mpiexec("-bind-to", "core", "-n", "1", "PROGRAM")
    display = ["OMP_DISPLAY_AFFINITY=true", "OMP_AFFINITY_FORMAT=thread %n of %N on %A"]
    for settings in (
        ["HIERBAR_PLACE=off"],
        ["HIERBAR_PLACE=check"],
        ["HIERBAR_PLACE=off", "OMP_PLACES=cores"],
        [f"OMP_PLACES={{{min(trial.cpus)}}}"],
        ["OMP_PROC_BIND=false"],
        ["KMP_AFFINITY=disabled"],
    ):
        # libomp 19 aborts when it is to display an affinity that is disabled.
        common = [
            "OMP_NUM_THREADS=2",
            *(display if "KMP_AFFINITY=disabled" not in settings else []),
        ]
        ours = trial.run(bound, "HIERBAR_VERBOSE=0", *common, *settings)
        stock = trial.run(
            bound, *common, *(s for s in settings if not s.startswith("HIERBAR")), stock=True
        )
        same = (ours.lines(), sorted(ours.stderr.splitlines())) == (
            stock.lines(),
            sorted(stock.stderr.splitlines()),
        )
        trial.expect(
            same and len(ours.ranks) == 1,
            ours,
            f"{settings}: as stock, which says\n{stock.stdout}{stock.stderr}",
        )
    run = trial.run(bound, "HIERBAR_PLACE=check", "OMP_NUM_THREADS=2")
    trial.expect(run.stderr.count("would take cpus") == 1, run, "check says what would be done")
    run = trial.run(bound, "HIERBAR_PLACE=check")
    trial.expect(
        "would take cpus" not in run.stderr, run, "check says nothing where nothing would be done"
    )


def bad_setting(trial):
    run = trial.run(
        mpiexec("-bind-to", "core", "-n", "1", "PROGRAM"),
        "OMP_NUM_THREADS=2",
        "HIERBAR_PLACE=sometimes",
    )
    trial.expect(
        run.stderr.count("HIERBAR_PLACE: 'sometimes'") == 1
        and "allowed: off, check or auto" in run.stderr,
        run,
        "one message",
    )
    trial.expect(run.ranks["0"][3] == [trial.cpus] * 2, run, "auto is used instead")


def meeting_names():
    return {path.name for path in SHARED_MEMORY.glob(f"hierbar-place-{os.geteuid()}-*")}


def a_rank_that_never_comes(trial):
    run = trial.run(mpiexec("-n", "1", "PROGRAM", ":", "-n", "1", "true"), "OMP_NUM_THREADS=1")
    trial.expect(
        len(run.ranks) == 1 and 0 < len(run.ranks["0"][3][0]) < len(trial.cpus),
        run,
        "an equal part after 2 s",
    )
    trial.expect(run.stderr.count("Warning: hierbar: only 1 of 2 ranks") == 1, run, "one message")
    trial.expect(not meeting_names(), run, "nothing is left")


def pid_that_runs(program):
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(path / "exe") == os.path.realpath(program):
                return int(path.name)
        except OSError:
            pass
    return None


def killed_while_it_waits(trial):
    process = subprocess.Popen(
        mpiexec("-n", "1", trial.program, ":", "-n", "1", "sleep", "60"),
        env=trial.environment(["OMP_NUM_THREADS=1"]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + TIMEOUT_S
        while not meeting_names() and time.monotonic() < end:
            time.sleep(0.005)
        waiting = meeting_names()
        os.kill(pid_that_runs(trial.program), signal.SIGKILL)
        process.wait(TIMEOUT_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    run = trial.run(mpiexec("-n", "2", "PROGRAM"), "OMP_NUM_THREADS=1")
    trial.expect(
        len(waiting) == 1 and len(run.ranks) == 2 and not meeting_names(),
        run,
        "the next job removes what is left",
    )


CASES = (
    bound_rank_gets_the_node,
    thread_counts_stay,
    team_sizes_of_the_share,
    unbound_ranks_share_out,
    bound_only_with_own_cpus,
    one_rank_loads_the_machine,
    too_many_threads_are_left_alone,
    different_thread_counts_agree,
    never_outside,
    what_the_program_does_itself_stays,
    exactly_stock,
    bad_setting,
    a_rank_that_never_comes,
    killed_while_it_waits,
)


def why_skipped():
    if shutil.which("mpiexec.mpich") is None:
        return "no mpiexec.mpich"
    if shutil.which("taskset") is None:
        return "no taskset"
    if len(os.sched_getaffinity(0)) < 2:
        return "only one cpu"
    return None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--lib-dir", type=pathlib.Path, required=True, help="where the libomp.so under test is"
    )
    parser.add_argument(
        "--stock-dir",
        type=pathlib.Path,
        default=pathlib.Path("none"),
        help="where LLVM's own libomp.so is",
    )
    parser.add_argument("--count-loads", required=True, metavar="FILE", help="count_loads.so")
    parser.add_argument("--case", choices=[case.__name__ for case in CASES], help="only this one")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM", help="placed")
    arguments = parser.parse_args()
    if reason := why_skipped():
        print("skipped:", reason)
        return SKIPPED
    failed = False
    for program in arguments.programs:
        for case in CASES:
            if arguments.case not in (None, case.__name__):
                continue
            trial = Trial(arguments, program)
            case(trial)
            print(
                f"{pathlib.Path(program).name}: {case.__name__}: {'FAILED' if trial.problems else 'ok'}"
            )
            print("".join(f"  expected: {problem}\n" for problem in trial.problems), end="")
            failed |= bool(trial.problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
