#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A cluster on one machine, for one command. Needs root.

    cluster.py --nodes 3 --delay-us 5000 --delay-line build/release/tests/network/delay_line -- hostname
    cluster.py --nodes 4 --mbit 100 -- mpiexec.openmpi {ompi} -n 4 program

A node is a set of namespaces: network, host name, System V memory, mounts with a /dev/shm of its
own, and clocks, which differ by days. With --delay-us a program carries the packets, each that much
late; with --mbit each node has a cable of that bandwidth to a bridge. With neither, cables without
a limit.

The command runs on the first node. In it, {enter} is a program that takes the place of ssh, {hosts}
a comma list of all nodes, {ompi} what Open MPI's mpiexec needs to use them, and {mpich} what
MPICH's does. HIERBAR_CLUSTER_ENTER and HIERBAR_CLUSTER_HOSTS have the same.

Nothing leaves these namespaces, and nothing of them is left: all processes are in one more
namespace, whose first one this is, and end with it, whatever ends it. Exit status: the command's;
77 where a cluster is not possible, with the reason; 124 after --timeout seconds.
"""

import argparse
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
TIMED_OUT = 124
MOST_NODES = 64
NAMESPACES = ("net", "uts", "ipc", "mount", "time")
# Set up as the first process of a node, which keeps its namespaces.
NODE = """hostname {name} && mount -t tmpfs -o size=64m tmpfs /dev/shm && mount -t sysfs sysfs /sys && ip link set lo up &&
echo ready && exec sleep infinity"""
ENTER = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done  # options for ssh
host=$1
shift
case $host in
CASES
*) echo "no such node: $host" >&2; exit 1 ;;
esac
exec nsenter --target $pid SPACES --wd="$PWD" -- sh -c "$*"  # may be more than a command: Open MPI sets variables in front
"""


class NotPossible(Exception):
    """Why there can be no cluster here."""


class Failure(Exception):
    """What is not as a test wants it."""


def status_of(check, *arguments):
    """The exit status of a test whose `check` raises Failure, or NotPossible where there can be no
    cluster."""
    try:
        check(*arguments)
    except NotPossible as reason:
        print(f"skipped: no cluster: {reason}")
        return SKIPPED
    except Failure as failure:
        print(f"FAILED: {failure}")
        return 1
    return 0


def add_mpi_arguments(parser):
    parser.add_argument(
        "--mpi", choices=("ompi", "mpich"), default="ompi", help="the family of --mpiexec"
    )
    parser.add_argument("--mpiexec", default="mpiexec.openmpi")


def launch_line(arguments, num_ranks, settings):
    """A launcher with its options, for Cluster.run(): ranks on the nodes in turn, with variables."""
    variables = (
        ["-x", f"{name}={value}"] if arguments.mpi == "ompi" else ["-genv", name, value]
        for name, value in settings.items()
    )
    return [
        arguments.mpiexec,
        f"{{{arguments.mpi}}}",
        "-n",
        str(num_ranks),
        *(word for words in variables for word in words),
    ]


def die_with_parent():
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def contain():
    """Starts this program again as the first process of a process namespace. To be called at once."""
    if os.getpid() == 1 or os.geteuid() != 0 or shutil.which("unshare") is None:
        return
    probe = subprocess.run(
        ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "true"],
        stderr=subprocess.PIPE,
        text=True,
    )
    if probe.returncode == 0:
        os.execvp(
            "unshare",
            [
                "unshare",
                "--pid",
                "--fork",
                "--mount",
                "--mount-proc",
                "--kill-child",
                sys.executable,
                "-B",
                *sys.argv,
            ],
        )


def run_contained(main):
    """contain(), and ends this program by main()'s status, or by SKIPPED with the reason where
    there can be no cluster."""
    contain()
    try:
        sys.exit(main())
    except NotPossible as reason:
        print(f"skipped: no cluster: {reason}", file=sys.stderr)
        sys.exit(SKIPPED)


def start(command, **options):
    return subprocess.Popen(command, preexec_fn=die_with_parent, text=True, **options)


def run(*command):
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30
    )
    if result.returncode != 0:
        raise NotPossible(f"{' '.join(command)}: {result.stdout.strip()}")
    return result.stdout


def child_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


class Cluster:
    """Use it in `with`. Raises NotPossible."""

    def __init__(
        self, num_nodes, delay_us=None, far_us=None, mbit=None, delay_line=None, burst_kb=24
    ):
        if os.geteuid() != 0:
            raise NotPossible("namespaces need root")
        if os.getpid() != 1:
            raise NotPossible("no process namespaces here")
        for tool in ("ip", "unshare", "nsenter", *(["tc"] if mbit else [])):
            if shutil.which(tool) is None:
                raise NotPossible(f"no {tool} here (Debian: iproute2, util-linux)")
        self._processes = []
        self._pids = []
        self._directory = tempfile.TemporaryDirectory()
        self.addresses = [
            f"192.0.2.{i + 1}" for i in range(num_nodes)
        ]  # for documentation: nobody's
        self.enter = os.path.join(self._directory.name, "enter")
        try:
            for i in range(num_nodes):
                self._pids.append(self._start_node(f"node{i}", NODE.format(name=f"node{i}"), i))
            if delay_us is None:
                self._lay_cables(mbit, burst_kb)
            else:
                self._lay_delay_line(delay_line, delay_us, delay_us if far_us is None else far_us)
            for pid, address in zip(self._pids, self.addresses):
                run(*self._in_network(pid), "ip", "address", "add", f"{address}/24", "dev", "net0")
                run(*self._in_network(pid), "ip", "link", "set", "net0", "up")
            self._write_enter()
            self._wait_until_connected()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for process in self._processes:
            process.kill()
            process.wait()
        self._directory.cleanup()

    def words(self):
        """What stands for {...} in a command."""
        hosts = ",".join(self.addresses)
        ompi = (
            "--allow-run-as-root --mca pml ob1 --mca btl self,vader,tcp --mca btl_tcp_if_include net0 --mca oob_tcp_if_include net0 "
            f"--mca plm_rsh_agent {self.enter} --mca plm_rsh_no_tree_spawn 1 --oversubscribe --bind-to none --map-by node "
            f"--host {','.join(address + ':64' for address in self.addresses)}"
        )
        mpich = f"-launcher ssh -launcher-exec {self.enter} -iface net0 -hosts {hosts}"
        return {
            "{hosts}": [hosts],
            "{enter}": [self.enter],
            "{ompi}": ompi.split(),
            "{mpich}": mpich.split(),
        }

    def command_on(self, node, command):
        words = self.words()
        command = [new for word in command for new in words.get(word, [word])]
        return [
            "nsenter",
            "--target",
            str(self._pids[node]),
            *[f"--{space}" for space in NAMESPACES],
            f"--wd={os.getcwd()}",
            "--",
            *command,
        ]

    def environment(self):
        return dict(
            os.environ,
            HIERBAR_CLUSTER_ENTER=self.enter,
            HIERBAR_CLUSTER_HOSTS=",".join(self.addresses),
        )

    def run(self, command, timeout, node=0, **options):
        """Runs a command on a node; see subprocess.run(). Returns status and output, None for the
        status after the timeout."""
        process = start(
            self.command_on(node, command),
            env=options.pop("env", self.environment()),
            start_new_session=True,
            **options,
        )
        try:
            output, errors = process.communicate(timeout=timeout)
            return process.returncode, output, errors
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
            return None, output, errors

    def _start_node(self, name, script, index):
        process = start(
            [
                "unshare",
                *[f"--{space}" for space in NAMESPACES],
                "--fork",
                "--kill-child",
                "--monotonic",
                str(86400 * index),
                "--boottime",
                str(86400 * index),
                "sh",
                "-c",
                script,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._processes.append(process)
        line = process.stdout.readline()
        if line != "ready\n":
            raise NotPossible(f"no namespaces for {name}: {line.strip()}")
        return child_of(process.pid)

    @staticmethod
    def _in_network(pid):
        return ["nsenter", f"--net=/proc/{pid}/ns/net"]

    def _lay_delay_line(self, program, delay_us, far_us):
        process = start(
            [program, str(delay_us), str(far_us), *map(str, self._pids)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._processes.append(process)
        line = process.stdout.readline()
        if line != "ready\n":
            raise NotPossible(f"no delay line: {line.strip()}")

    def _lay_cables(self, mbit, burst_kb):
        switch = self._start_node("switch", "echo ready && exec sleep infinity", 0)
        run(*self._in_network(switch), "ip", "link", "add", "bridge", "type", "bridge")
        run(*self._in_network(switch), "ip", "link", "set", "bridge", "up")
        for i, pid in enumerate(self._pids):
            port = f"port{i}"
            run(
                *self._in_network(switch),
                "ip",
                "link",
                "add",
                port,
                "type",
                "veth",
                "peer",
                "name",
                "net0",
                "netns",
                str(pid),
            )
            run(*self._in_network(switch), "ip", "link", "set", port, "master", "bridge", "up")
            # Every kernel has it, and what a host prefers to it differs.
            run(*self._in_network(pid), "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno")
            for end, device in ((switch, port), (pid, "net0")) if mbit else ():
                # By default a burst of 16 full packets: what the kernel's timers need at this rate,
                # and little against a message. Where ranks outnumber cpus timers come late, and a
                # larger one makes up for it.
                run(
                    *self._in_network(end),
                    "tc",
                    "qdisc",
                    "add",
                    "dev",
                    device,
                    "root",
                    "tbf",
                    "rate",
                    f"{mbit}mbit",
                    "burst",
                    f"{burst_kb}kb",
                    "latency",
                    "100ms",
                )

    def _write_enter(self):
        cases = "\n".join(
            f"{address}) pid={pid} ;;" for address, pid in zip(self.addresses, self._pids)
        )
        spaces = " ".join(f"--{space}" for space in NAMESPACES)
        text = ENTER.replace("CASES", cases).replace("SPACES", spaces)
        pathlib.Path(self.enter).write_text(text)
        os.chmod(self.enter, 0o755)

    def _wait_until_connected(self):
        end = time.monotonic() + 20
        for pid in self._pids:
            while (
                "state DOWN"
                in (state := run(*self._in_network(pid), "ip", "-oneline", "link", "show", "net0"))
                or "NO-CARRIER" in state
            ):
                if time.monotonic() > end:
                    raise NotPossible(f"a device does not come up: {state.strip()}")
                time.sleep(0.05)


def read_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=2, help=f"2 to {MOST_NODES}")
    parser.add_argument("--delay-us", type=int, help="one way")
    parser.add_argument(
        "--far-us",
        type=int,
        help="between the first half of the nodes and the second; default: --delay-us",
    )
    parser.add_argument("--mbit", type=int, help="bandwidth of each node, each way")
    parser.add_argument(
        "--delay-line",
        default="build/release/tests/network/delay_line",
        help="the program that carries packets",
    )
    parser.add_argument("--timeout", type=float, default=600, metavar="S")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    if not 2 <= arguments.nodes <= MOST_NODES:
        parser.error(f"--nodes: '{arguments.nodes}' is not allowed; allowed: 2 to {MOST_NODES}")
    if arguments.delay_us is not None and arguments.mbit is not None:
        parser.error("--delay-us and --mbit exclude each other")
    return arguments


def main():
    arguments = read_arguments()
    try:
        with Cluster(
            arguments.nodes,
            arguments.delay_us,
            arguments.far_us,
            arguments.mbit,
            arguments.delay_line,
        ) as cluster:
            status, _, _ = cluster.run(arguments.command, arguments.timeout)
            return TIMED_OUT if status is None else status
    except NotPossible as reason:
        print(f"skipped: no cluster: {reason}", file=sys.stderr)
        return SKIPPED


if __name__ == "__main__":
    contain()
    sys.exit(main())
