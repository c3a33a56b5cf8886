#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""instances_command_test.py HIERBAR [RUN_OPTION]...: what `hierbar run --instances` does with real
programs.

All processes of a test have a variable of their own. After each test nothing is left that has it.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "support"))
from marked_processes import marked_processes

HIERBAR, *OPTIONS = sys.argv[1:]
LIMIT_S = 100  # of one command; none takes a tenth of it on an idle machine
CPUS = sorted(os.sched_getaffinity(0))
NODES = list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))
GRACE_S = 5  # kGrace_ns


def cpus_in(text):
    """The cpus of a list such as 0-3,8."""
    ranges = [[int(end) for end in part.split("-")] for part in text.strip().split(",")]
    return {cpu for ends in ranges for cpu in range(ends[0], ends[-1] + 1)}


def lines_by_instance(output):
    """What each instance has printed; every line must have a number."""
    printed = {}
    for line in output.splitlines():
        number, text = re.fullmatch(r"\[(\d+)\] (.*)", line).groups()
        printed.setdefault(int(number), []).append(text)
    return printed


def hear_all_signals():
    """nohup, or a shell's background, may have them ignored."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


class InstancesTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.mark = f"MARK_OF_A_TEST={uuid.uuid4()}"
        name, value = self.mark.split("=")
        left_out = re.compile("OMP_|KMP_|GOMP_|HIERBAR_|HWLOC_|LD_|PMI_|SLURM_|OMPI_|MPI_")
        self.environment = {n: v for n, v in os.environ.items() if not left_out.match(n)}
        self.environment[name] = value
        self.environment["TMPDIR"] = self.directory.name

    def wait_until(self, holds):
        """Returns whether it holds within the limit."""
        deadline = time.monotonic() + LIMIT_S
        while not holds() and time.monotonic() < deadline:
            time.sleep(0.05)
        return holds()

    def tearDown(self):
        self.wait_until(lambda: not self.marked_processes())
        left = self.marked_processes()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        files = os.listdir(self.directory.name)
        self.directory.cleanup()
        self.assertEqual(left, [], "processes are left behind")
        self.assertEqual([name for name in files if name.startswith("hierbar-")], [])

    def marked_processes(self):
        return marked_processes(self.mark)

    def command(self, options, program):
        return [HIERBAR, "run", *OPTIONS, *options, "--", *program]

    def run_command(self, options, *program, cpus=None, **variables):
        return subprocess.run(
            self.command(options, program),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env={**self.environment, **variables},
            preexec_fn=lambda: os.sched_setaffinity(0, cpus or CPUS),
        )

    def run_shell(self, options, script, **more):
        return self.run_command(options, "sh", "-c", script, **more)

    def start(self, options, script, **files):
        """Starts it, and returns when all instances have printed 'ready'."""
        files = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **files}
        process = subprocess.Popen(
            self.command(options, ["sh", "-c", script]),
            text=True,
            env=self.environment,
            preexec_fn=hear_all_signals,
            **files,
        )
        number = int(options[options.index("--instances") + 1])
        for _ in range(number):
            self.assertIn("ready", process.stdout.readline())
        return process

    # --- what an instance has

    def test_instances_know_who_they_are(self):
        done = self.run_shell(
            ["--instances", "3"], "echo $HIERBAR_INSTANCE $HIERBAR_INSTANCES $HIERBAR_PLACE"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            sorted(done.stdout.splitlines()), ["[0] 0 3 off", "[1] 1 3 off", "[2] 2 3 off"]
        )

    def test_shares_are_those_of_ranks(self):
        if len(CPUS) < 2:
            self.skipTest("needs two cpus")
        done = self.run_shell(["--instances", "2"], "grep Cpus_allowed_list /proc/self/status")
        listed, threads = ",".join(map(str, CPUS)), str(len(CPUS) // 2)
        placed = subprocess.run(
            [HIERBAR, "place", "--per-node", "2", "-t", threads, "--cpus", listed, "--json"],
            capture_output=True,
            check=True,
            timeout=LIMIT_S,
            env=self.environment,
        )
        for rank in json.loads(placed.stdout)["ranks"]:
            own = lines_by_instance(done.stdout)[rank["rank"]][0].split(":")[1]
            self.assertEqual(cpus_in(own), cpus_in(rank["cpus"]))

    def test_only_allowed_cpus_are_shared_out(self):
        done = self.run_shell(
            ["--instances", "2"], "grep Cpus_allowed_list /proc/self/status", cpus={CPUS[-1]}
        )
        self.assertEqual(
            [cpus_in(line.split(":")[1]) for line in done.stdout.splitlines()], [{CPUS[-1]}] * 2
        )
        self.assertIn(f"2 instances share 1 core: 1 cpu ({CPUS[-1]})", done.stderr)
        quiet = self.run_command(["-q", "--instances", "2"], "true", cpus={CPUS[-1]})
        self.assertEqual((quiet.stdout, quiet.stderr, quiet.returncode), ("", "", 0))

    def test_threads(self):
        show = "echo $OMP_NUM_THREADS"
        one = ["--instances", "1"]
        alone = {CPUS[0]}
        self.assertEqual(self.run_shell(one, show, cpus=alone).stdout, "[0] 1\n")
        users = self.run_shell(one, show, cpus=alone, OMP_NUM_THREADS="7,2")
        self.assertEqual(users.stdout, "[0] 7,2\n")
        self.assertIn("7 threads share 1 core", users.stderr)
        option = self.run_shell(
            [*one, "--threads-per-instance", "1"], show, cpus=alone, OMP_NUM_THREADS="7"
        )
        self.assertEqual(option.stdout, "[0] 1\n")

    def test_stdin_is_empty(self):
        done = subprocess.run(
            self.command(["--instances", "2"], ["cat"]),
            input="for nobody",
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env=self.environment,
        )
        self.assertEqual((done.stdout, done.returncode), ("", 0))

    def test_a_report_has_the_number_of_its_instance(self):
        done = self.run_shell(
            ["--instances", "2", "--report", "a.b.trace.json"], "echo $HIERBAR_OUTPUT"
        )
        self.assertEqual(
            sorted(done.stdout.splitlines()), ["[0] a.b.0.trace.json", "[1] a.b.1.trace.json"]
        )

    def test_memory(self):
        done = self.run_shell(["--instances", "1", "--membind"], "cat /proc/self/numa_maps")
        if len(NODES) < 2:
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("--membind has no effect: there is one NUMA node\n", done.stderr)
        elif done.returncode == 0:
            self.assertIn(" bind", done.stdout)
        else:
            self.assertIn("the kernel refuses to bind its memory", done.stderr)

    # --- output

    def test_lines_are_whole(self):
        writer = (
            "import os, sys\n"
            "for i in range(300):\n"
            "    for part in (b'a' * 50, b'b' * 9000, b'\\n'):\n"
            "        os.write(1 + i % 2, part)\n"
            "os.write(1, b'end')\n"
        )
        command = self.command(["-q", "--instances", "3"], [sys.executable, "-c", writer])
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
            env=self.environment,
        )
        printed = lines_by_instance(done.stdout)
        self.assertEqual(set(printed), {0, 1, 2})
        for lines in printed.values():
            self.assertEqual(len(lines), 301)
            self.assertEqual(lines.count("a" * 50 + "b" * 9000), 300)
            self.assertEqual(lines.count("end"), 1, "a last line without an end gets one")

    def test_files_in_place_of_lines(self):
        directory = os.path.join(self.directory.name, "results")
        options = ["--instances", "2", "--output-dir", directory]
        done = self.run_shell(options, "echo out $HIERBAR_INSTANCE; echo err >&2; printf end")
        self.assertEqual((done.stdout, done.returncode), ("", 0))
        texts = {path.name: path.read_text() for path in pathlib.Path(directory).iterdir()}
        self.assertEqual(
            texts,
            {
                "instance.0.out": "out 0\nend",
                "instance.0.err": "err\n",
                "instance.1.out": "out 1\nend",
                "instance.1.err": "err\n",
            },
        )
        failed = self.run_shell(options, "exit 4")
        self.assertEqual(failed.returncode, 4)
        self.assertRegex(failed.stderr, r"failed: exit status 4; .*; see .*/instance\.[01]\.err\n")
        self.assertEqual(pathlib.Path(directory, "instance.0.out").read_text(), "")

    def test_a_reader_that_goes_ends_the_writers(self):
        process = subprocess.Popen(
            self.command(["-q", "--instances", "2"], ["yes"]),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        self.assertRegex(process.stdout.readline(), r"\[\d\] y\n")
        process.stdout.close()
        self.assertEqual(process.wait(LIMIT_S), 128 + signal.SIGPIPE)
        process.stderr.close()

    # --- ends

    def test_the_first_failure_ends_all(self):
        done = self.run_shell(
            ["--instances", "3"], "test $HIERBAR_INSTANCE = 1 && exit 7; sleep 1000 & wait"
        )
        self.assertEqual(done.returncode, 7)
        self.assertIn(
            "hierbar run: instance 1 failed: exit status 7; the others are ended\n", done.stderr
        )
        killed = self.run_shell(["--instances", "1"], "kill -9 $$")
        self.assertEqual(killed.returncode, 128 + 9)
        self.assertIn("instance 0 failed: signal 9 (Killed)\n", killed.stderr)

    def test_a_stubborn_instance_is_killed(self):
        start = time.monotonic()
        done = self.run_shell(
            ["--instances", "2"],
            "test $HIERBAR_INSTANCE = 1 && { sleep 1; exit 7; }; trap '' TERM; "
            "while :; do sleep 1; done",
        )
        self.assertEqual(done.returncode, 7)
        self.assertGreater(time.monotonic() - start, GRACE_S)

    def test_what_an_instance_leaves_behind_is_ended(self):
        done = self.run_shell(["--instances", "2"], "sleep 1000 & exit 0")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_signals_are_passed_on(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process = self.start(["--instances", "2"], "echo ready; sleep 1000 & wait")
            process.send_signal(number)
            _, errors = process.communicate(timeout=LIMIT_S)
            self.assertEqual(process.returncode, 128 + number, errors)
            self.assertNotIn("failed", errors)

    def test_an_orderly_end_is_no_failure(self):
        process = self.start(
            ["--instances", "2"],
            "trap 'echo bye; exit 0' TERM USR1; echo ready; while :; do sleep 0.1; done",
        )
        process.send_signal(signal.SIGUSR1)
        output, _ = process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(sorted(output.splitlines()), ["[0] bye", "[1] bye"])

    def test_a_second_signal_kills(self):
        process = self.start(
            ["--instances", "2"], "trap 'echo once' TERM; echo ready; while :; do sleep 0.1; done"
        )
        process.send_signal(signal.SIGTERM)
        self.assertIn("once", process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 128 + signal.SIGKILL)

    def states(self, process):
        """The states of all processes that `process` has started, but the keeper."""
        found = []
        for pid in self.marked_processes():
            name, rest = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)
            if pid != process.pid and "keeper" not in name:
                found.append(rest.split()[0])
        return found

    def test_a_stop_stops_all(self):
        # In the background: a shell that is just starting a command may wait for its exec(), and
        # does not stop as long as the stopped child does not come to that.
        process = self.start(["--instances", "2"], "sleep 1000 & echo ready; wait")
        process.send_signal(signal.SIGTSTP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        self.assertTrue(self.wait_until(lambda: set(self.states(process)) == {"T"}))
        process.send_signal(signal.SIGCONT)
        self.assertTrue(self.wait_until(lambda: "T" not in self.states(process)))
        process.terminate()
        process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)

    def test_nothing_survives_the_command(self):
        process = self.start(["-q", "--instances", "2"], "sleep 1000 & echo ready; wait")
        self.assertGreater(len(self.marked_processes()), 4)
        process.kill()
        process.communicate(timeout=LIMIT_S)  # until nobody has its pipes open

    def test_the_command_sleeps_while_instances_run(self):
        process = self.start(["--instances", "2"], "echo ready; exec sleep 1000")
        status = pathlib.Path(f"/proc/{process.pid}/status")
        ran = re.compile(r"voluntary_ctxt_switches:\s+(\d+)")
        time.sleep(0.5)
        before = ran.findall(status.read_text())
        time.sleep(1.5)
        self.assertEqual(ran.findall(status.read_text()), before)
        process.terminate()
        process.communicate(timeout=LIMIT_S)

    # --- the line at the end

    def test_the_last_line_adds_up(self):
        serve = "echo openmp 20 1 >> $HIERBAR_SERVED_FILE"
        done = self.run_shell(["--instances", "3"], serve)
        self.assertTrue(
            done.stderr.endswith(
                "hierbar run: 3 instances: OpenMP: 60 barriers served in 3 processes, "
                "3 left to the runtime's own\n"
            ),
            done.stderr,
        )
        some = self.run_shell(
            ["--instances", "3", "--require-active"], f"test $HIERBAR_INSTANCE = 1 || {serve}; :"
        )
        self.assertEqual(some.returncode, 3)
        self.assertIn(
            "3 instances: OpenMP: 40 barriers served in 2 processes, 2 left to the runtime's own; "
            "instance 1 not active: ",
            some.stderr,
        )
        none = self.run_shell(["-q", "--instances", "2", "--require-active"], "true")
        self.assertEqual(none.returncode, 3)
        self.assertRegex(none.stderr, r"^hierbar run: 2 instances: not active: .*\n$")
        self.assertNotIn("instance 0", none.stderr, "one reason for all")
        self.assertEqual(
            self.run_shell(["--instances", "2", "--require-active"], serve).returncode, 0
        )

    def test_verbose_says_who_gets_what(self):
        done = self.run_command(["-v", "--instances", "1"], "true", cpus={CPUS[0]})
        self.assertIn(f"hierbar run: instance 0: cpus {CPUS[0]}, 1 thread\n", done.stderr)

    def test_a_dry_run_is_a_script(self):
        options = ["--dry-run", "--instances", "2", "--report", "a.html"]
        done = self.run_shell(options, "echo $HIERBAR_INSTANCE $HIERBAR_OUTPUT")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.endswith("wait\n"))
        ran = subprocess.run(
            ["sh", "-c", done.stdout],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env=self.environment,
        )
        self.assertEqual(sorted(ran.stdout.splitlines()), ["0 a.0.html", "1 a.1.html"], ran.stderr)

    # --- refusals

    def assert_refused(self, options, words, *program, **more):
        done = self.run_command(options, *(program or ("true",)), **more)
        self.assertEqual((done.stdout, done.returncode), ("", 2), done.stderr)
        self.assertIn(words, done.stderr)

    def test_bad_options(self):
        one = ["--instances", "1"]
        for bad in ("0", "-1", "two", "4097"):
            self.assert_refused(
                ["--instances=" + bad],
                f"--instances: '{bad}': no such number of instances; allowed: 1 to 4096",
            )
        for bad in ("0", "many"):
            self.assert_refused(
                [*one, "--threads-per-instance", bad],
                f"--threads-per-instance: '{bad}': no such number of threads; allowed: 1 to the "
                "number of cpus in an instance's share",
            )
        self.assert_refused(
            [*one, "--threads-per-instance", "2"],
            "--threads-per-instance: '2': the smallest of 1 share has 1 cpu; allowed: 1 to 1",
            cpus={CPUS[0]},
        )
        self.assert_refused(
            [*one, "--output-dir", "/proc/no/such"], "--output-dir: '/proc/no/such': "
        )
        self.assert_refused(
            [*one, "--output-dir", "/dev/null"],
            "cannot make /dev/null/instance.0.out: Not a directory",
        )
        for option in (["--threads-per-instance", "1"], ["--output-dir", "."], ["--membind"]):
            self.assert_refused(option, "--instances")

    def test_launchers(self):
        self.assert_refused(
            ["--instances", "2"],
            "--instances: '2': 'mpiexec' starts ranks, on cpus that it chooses itself; allowed: a "
            "program without a launcher",
            "mpiexec",
            "-n",
            "2",
            "true",
        )
        slurm = {
            "SLURM_JOB_ID": "1",
            "SLURM_STEP_ID": "0",
            "SLURM_LOCALID": "0",
            "SLURM_NODEID": "0",
            "SLURM_STEP_NUM_TASKS": "2",
            "SLURM_STEP_TASKS_PER_NODE": "2",
        }
        self.assert_refused(
            ["--instances", "2"],
            "2 ranks of Slurm run this command on this node, and each would share out the same "
            "cpus",
            cpus=set(range(1024)),  # all that the kernel allows: nobody has bound it
            **slurm,
        )
        alone = {**slurm, "SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_TASKS_PER_NODE": "1"}
        self.assertEqual(self.run_command(["--instances", "2"], "true", **alone).returncode, 0)

    def test_a_program_that_cannot_be_started(self):
        done = self.run_command(["--instances", "3"], "/no/such/program")
        self.assertEqual(done.returncode, 127)
        self.assertIn("cannot run '/no/such/program': No such file or directory\n", done.stderr)
        self.assertNotIn("[0]", done.stderr)
        path = os.path.join(self.directory.name, "script")
        pathlib.Path(path).write_text("#!/no/such/interpreter\n")
        os.chmod(path, 0o755)
        broken = self.run_command(["--instances", "3"], path)
        self.assertEqual(broken.returncode, 127)
        self.assertEqual(broken.stderr.count("cannot run"), 1, "the others are not tried")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
