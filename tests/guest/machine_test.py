#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must hold on a machine of 2 packages with 2 NUMA nodes of 4 cores each. Runs on such a
machine:

    run_in_guest.py --shape 2x2x1x4 -- machine_test.py --hierbar bin/hierbar --lib-dir lib --shim lib/libhierbar_mpi.so \\
        --tool lib/libhierbar_ompt.so --clang hybrid_clang --gcc hybrid_gcc -v

Everything is in one script because a boot takes longer than the tests. Further arguments are
unittest's: names of tests, -v, -k. Cpus 0-3 are NUMA node 0, 4-7 are node 1, both in package 0, and
so on.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CORES_PER_NODE, NODES_PER_PACKAGE, NUM_CPUS = 4, 2, 16
PER_COMMAND_S = 150

options = None  # of the command line


def node_of(cpu):
    return cpu // CORES_PER_NODE


def package_of(cpu):
    return node_of(cpu) // NODES_PER_PACKAGE


def run(command, variables):
    """Returns the program's stdout and stderr together. Fails with that if the program fails."""
    environment = {**os.environ, **variables}
    result = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PER_COMMAND_S,
    )
    if result.returncode != 0:
        raise AssertionError(f"{command}: exit status {result.returncode}\n{result.stdout}")
    return result.stdout


def launch(program, ranks, *, launch_options=(), arguments=(), **variables):
    """Runs an MPI program with our libraries. `variables` win over the settings here."""
    # Many emulated cpus share few real ones: a thread that spins takes time from those it waits
    # for.
    settings = {
        "UCX_TLS": "sm,self",
        "LD_LIBRARY_PATH": str(options.lib_dir),
        "KMP_BARRIER": "hier",
        "KMP_BLOCKTIME": "0",
        **variables,
    }
    return run(
        [
            "mpiexec.mpich",
            "-launcher",
            "fork",
            *launch_options,
            "-n",
            str(ranks),
            str(program),
            *arguments,
        ],
        settings,
    )


def cpus_of_threads(output):
    """{(rank, thread): set of cpus} from the output of hybrid.cpp."""
    lines = re.findall(r"^rank (\d+) thread (\d+) cpus ([\d,]+)$", output, re.MULTILINE)
    return {
        (int(rank), int(thread)): set(map(int, cpus.split(","))) for rank, thread, cpus in lines
    }


def cpus_of_rank(threads, rank):
    return set().union(*(cpus for (other, _), cpus in threads.items() if other == rank))


class Machine(unittest.TestCase):
    def test_is_seen_as_it_is(self):
        machine = json.loads(run([str(options.hierbar), "topo", "--json"], {}))
        self.assertEqual(machine["num_cpus"], NUM_CPUS)
        self.assertEqual(machine["active_levels"], ["numa", "package"])
        cpus = {
            label: sorted(unit["cpus"] for unit in machine["units"] if label in unit["labels"])
            for label in ("numa", "package")
        }
        self.assertEqual(
            cpus, {"numa": ["0-3", "12-15", "4-7", "8-11"], "package": ["0-7", "8-15"]}
        )

    def test_has_a_plan_with_a_leader_in_each_numa_node(self):
        plan = run([str(options.hierbar), "plan", "--participants", str(NUM_CPUS)], {})
        self.assertRegex(plan, r"leaders +\{0,4,8,12\}")


class Barriers(unittest.TestCase):
    def check_team(self, program):
        output = launch(
            program,
            1,
            arguments=["20"],
            OMP_NUM_THREADS=str(NUM_CPUS),
            OMP_PLACES="cores",
            HIERBAR_VERBOSE="1",
        )
        self.assertIn("barriers correct", output)
        self.assertEqual(cpus_of_threads(output), {(0, cpu): {cpu} for cpu in range(NUM_CPUS)})
        self.assertRegex(output, r"leaders +\{0,4,8,12\}")
        self.assertGreaterEqual(int(re.search(r"episodes: fast (\d+)", output).group(1)), 40)

    def test_of_16_threads_compiled_by_clang(self):
        self.check_team(options.clang)

    def test_of_16_threads_compiled_by_gcc(self):
        self.check_team(options.gcc)

    def test_of_16_ranks(self):
        output = launch(
            options.clang,
            NUM_CPUS,
            launch_options=["-bind-to", "core"],
            arguments=["5"],
            OMP_NUM_THREADS="1",
            LD_PRELOAD=str(options.shim),
            HIERBAR_VERBOSE="1",
        )
        self.assertIn("barriers correct", output)
        self.assertRegex(output, r"16 of them on this node: 4 in the exchange")
        self.assertRegex(output, r"barriers of 16 ranks: engine [1-9]\d*, library 0")


class StockPlaces(unittest.TestCase):
    """Both forms of the fault, which HIERBAR_PLACE=off must leave as they are.

    Without the fault the tests of the cure would show nothing."""

    def check(self, program, **settings):
        bound = cpus_of_threads(
            launch(
                program,
                4,
                launch_options=["-bind-to", "core"],
                OMP_NUM_THREADS="4",
                OMP_PLACES="cores",
                **settings,
            )
        )
        self.assertEqual(
            bound, {(rank, thread): {rank} for rank in range(4) for thread in range(4)}
        )
        unbound = cpus_of_threads(
            launch(program, 2, OMP_NUM_THREADS="4", OMP_PLACES="cores", **settings)
        )
        self.assertEqual(
            unbound, {(rank, thread): {4 * thread} for rank in range(2) for thread in range(4)}
        )

    def test_of_an_ordinary_barrier(self):
        self.check(options.clang, KMP_BARRIER="hyper")

    def test_when_placement_is_off(self):
        self.check(options.gcc, HIERBAR_PLACE="off")


class Cure(unittest.TestCase):
    """Ranks and threads divide the machine along its tree."""

    def place(self, ranks, num_threads, launch_options=(), places="cores", **settings):
        """Checks what holds for all placements with both compilers: each thread has its own cpu."""
        answers = []
        for program in (options.clang, options.gcc):
            threads = cpus_of_threads(
                launch(
                    program,
                    ranks,
                    launch_options=launch_options,
                    OMP_NUM_THREADS=str(num_threads),
                    OMP_PLACES=places,
                    **settings,
                )
            )
            self.assertEqual(len(threads), ranks * num_threads)
            self.assertEqual({len(cpus) for cpus in threads.values()}, {1}, threads)
            self.assertEqual(len(set().union(*threads.values())), ranks * num_threads, threads)
            answers.append(threads)
        self.assertEqual(*answers)
        return answers[0]

    def test_of_ranks_bound_to_a_core_keeps_each_in_one_numa_node(self):
        threads = self.place(4, 4, ["-bind-to", "core"])
        for rank in range(4):
            self.assertEqual(len({node_of(cpu) for cpu in cpus_of_rank(threads, rank)}), 1, threads)

    def test_of_unbound_ranks_gives_each_its_own_package(self):
        threads = self.place(2, 4)
        packages = [{package_of(cpu) for cpu in cpus_of_rank(threads, rank)} for rank in range(2)]
        self.assertEqual([len(each) for each in packages], [1, 1], threads)
        self.assertNotEqual(*packages)

    def test_of_an_odd_number_lets_at_most_one_rank_cross_packages(self):
        threads = self.place(3, 5)
        crossing = [
            rank
            for rank in range(3)
            if len({package_of(cpu) for cpu in cpus_of_rank(threads, rank)}) > 1
        ]
        self.assertLessEqual(len(crossing), 1, threads)

    def test_of_ranks_with_different_thread_counts_is_in_proportion(self):
        # Without OMP_PLACES each thread may use the whole share.
        first = ["-n", "1", "env", "OMP_NUM_THREADS=2", str(options.clang), ":"]
        output = launch(
            options.clang, 1, launch_options=first, OMP_NUM_THREADS="6", HIERBAR_VERBOSE="1"
        )
        threads = cpus_of_threads(output)
        shares = [cpus_of_rank(threads, rank) for rank in range(2)]
        self.assertEqual(
            sorted(threads),
            [(0, thread) for thread in range(2)] + [(1, thread) for thread in range(6)],
        )
        self.assertEqual(
            [len(share) for share in shares], [NUM_CPUS // 4, NUM_CPUS // 4 * 3], output
        )
        self.assertFalse(shares[0] & shares[1], output)
        self.assertEqual(len(re.findall(r"place: placed: rank [01] of 2 ", output)), 2, output)

    def test_makes_teams_as_large_as_the_share_when_asked_to(self):
        threads = cpus_of_threads(
            launch(
                options.clang,
                4,
                launch_options=["-bind-to", "core"],
                OMP_PLACES="cores",
                HIERBAR_PLACE="threads=share",
            )
        )
        self.assertEqual(
            sorted(threads), [(rank, thread) for rank in range(4) for thread in range(4)]
        )
        self.assertEqual(sorted(map(min, threads.values())), list(range(NUM_CPUS)))

    def test_leaves_an_explicit_list_alone(self):
        places = "{0},{4},{8},{12}"
        ours, stock = (
            cpus_of_threads(
                launch(
                    options.clang, 2, OMP_NUM_THREADS="4", OMP_PLACES=places, KMP_BARRIER=barrier
                )
            )
            for barrier in ("hier", "hyper")
        )
        self.assertEqual(ours, stock)
        self.assertEqual(
            ours, {(rank, thread): {4 * thread} for rank in range(2) for thread in range(4)}
        )

    def test_leaves_the_size_of_teams_alone(self):
        ours, stock = (
            sorted(
                re.findall(
                    r"rank \d+ team \d+",
                    launch(
                        options.clang,
                        4,
                        launch_options=["-bind-to", "numa"],
                        OMP_PLACES="cores",
                        KMP_BARRIER=barrier,
                    ),
                )
            )
            for barrier in ("hier", "hyper")
        )
        self.assertEqual(ours, stock)
        self.assertEqual(len(ours), 4)


class Reports(unittest.TestCase):
    """What libhierbar_ompt.so and the shim report on the levels of this machine."""

    def report(self, ranks, name, *, launch_options=(), **variables):
        with tempfile.TemporaryDirectory() as directory:
            launch(
                options.clang,
                ranks,
                launch_options=launch_options,
                arguments=["40"],
                OMP_PLACES="cores",
                OMP_PROC_BIND="close",
                OMP_TOOL_LIBRARIES=str(options.tool),
                HIERBAR_REPORT="json",
                HIERBAR_OUTPUT=f"{directory}/{name}",
                **variables,
            )
            self.assertEqual(len(os.listdir(directory)), 1, os.listdir(directory))
            return json.loads((pathlib.Path(directory) / os.listdir(directory)[0]).read_text())

    def site(self, report, kind):
        return max(
            (site for site in report["sites"] if site["kind"] == kind),
            key=lambda site: site["barriers"],
        )

    def groups(self, site):
        return [(group["level"], group["unit"], group["threads"]) for group in site["groups"]]

    def test_name_the_parts_that_threads_of_both_packages_share(self):
        site = self.site(self.report(1, "run", OMP_NUM_THREADS="16"), "explicit")
        nodes = [
            (1, "L3", list(range(first, first + CORES_PER_NODE)))
            for first in range(0, NUM_CPUS, CORES_PER_NODE)
        ]
        self.assertEqual(self.groups(site), [(0, "machine", [0, 4, 8, 12]), *nodes])
        names = [level["level"] for level in site["levels"]]
        self.assertEqual(
            names, ["gather 1 (L3)", "exchange (machine)", "release 1 (L3)", "outside"]
        )

    def test_name_the_package_of_threads_that_stay_in_one(self):
        site = self.site(self.report(1, "run", OMP_NUM_THREADS="8"), "explicit")
        self.assertEqual(self.groups(site), [(0, "package", list(range(8)))])

    def test_are_one_for_all_ranks_and_their_threads(self):
        report = self.report(
            2,
            "run-%r",
            launch_options=["-genv", "LD_PRELOAD", str(options.shim)],
            OMP_NUM_THREADS="4",
        )
        self.assertEqual(report["processes"], 2)
        ranks = self.site(report, "MPI_Barrier")
        self.assertEqual((ranks["team_size"], len(ranks["threads"])), (2, 2))
        self.assertIn("exchange", " ".join(level["level"] for level in ranks["levels"]))
        threads = self.site(report, "explicit")
        self.assertEqual((threads["team_size"], len(threads["processes"])), (4, 2))
        self.assertEqual(self.groups(threads), [(0, "L3", [0, 1, 2, 3])])


class SettingsOfPlace(unittest.TestCase):
    """Each launcher reads the settings that are printed for it as they are meant."""

    MPICH = ["mpiexec.mpich", "-launcher", "fork"]
    OPEN_MPI = ["mpiexec.openmpi", "--allow-run-as-root"]
    SHOW = (
        'echo "rank ${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" $(grep Cpus_allowed_list /proc/self/status)'
    )

    def place(self, ranks, threads, *more):
        command = [str(options.hierbar), "place", "--per-node", str(ranks), "-t", str(threads)]
        return run([*command, *more], {})

    def check(self, ranks, threads, command):
        """`command` starts the ranks, as the settings say."""
        shares = json.loads(self.place(ranks, threads, "--json"))["ranks"]
        output = run([*command, "-n", str(ranks), "sh", "-c", self.SHOW], {})
        seen = dict(re.findall(r"^rank (\d+) Cpus_allowed_list:\s*([\d,-]+)$", output, re.M))
        self.assertEqual(
            seen, {str(rank): share["cpus"] for rank, share in enumerate(shares)}, output
        )

    def test_for_mpich(self):
        for ranks, threads in ((4, 4), (3, 5)):
            settings = self.place(ranks, threads, "--settings", "mpiexec")
            self.check(ranks, threads, [*self.MPICH, *settings.split()])

    @unittest.skipUnless(shutil.which("mpiexec.openmpi"), "no Open MPI here")
    def test_for_open_mpi(self):
        for ranks, threads in ((4, 4), (5, 3)):
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(self.place(ranks, threads, "--settings", "rankfile"))
                file.flush()
                self.check(ranks, threads, [*self.OPEN_MPI, "--rankfile", file.name])


def main():
    global options
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hierbar", type=pathlib.Path, required=True, help="the command")
    parser.add_argument("--lib-dir", type=pathlib.Path, required=True, help="where libomp.so is")
    parser.add_argument("--shim", type=pathlib.Path, required=True, help="libhierbar_mpi.so")
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="libhierbar_ompt.so")
    parser.add_argument(
        "--clang", type=pathlib.Path, required=True, help="hybrid.cpp, compiled by Clang"
    )
    parser.add_argument(
        "--gcc", type=pathlib.Path, required=True, help="hybrid.cpp, compiled by GCC"
    )
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
