#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command beside a Slurm of its own, whose only node is this machine.

    with_slurm.py -- srun -n 2 env

munged, slurmctld and slurmd are started for this command only, with keys, ports, state and logs in
a directory that is removed afterwards; an installation's own Slurm is neither used nor disturbed.
The command finds them through SLURM_CONF. All of them are children of this script, and ended by it.

Needs root, because slurmd does, and Debian's slurm-wlm and munge or the likes of them. Where
something is missing, it says what and returns 77.

Exit status: the command's; 124 when it did not end in time; 125 when Slurm did not start; 77 when
it cannot run here.
"""

import argparse
import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
SKIPPED, TIMED_OUT, BROKEN = 77, 124, 125

CONFIGURATION = """\
ClusterName=hierbar
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
FirstJobId={first_job_id}
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CredType=cred/munge
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={num_cpus} State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=5 State=UP OverSubscribe=YES
"""


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=60,
        metavar="SECONDS",
        help="for starting Slurm and for the command (60)",
    )
    parser.add_argument("command", nargs="+", help="the command and its arguments")
    return parser.parse_args()


def reason_to_skip():
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"])
    os.environ["PATH"] = path
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        return f"no {', '.join(missing)} here (Debian: slurm-wlm munge)"
    if os.geteuid() != 0:
        return "slurmd needs root"
    return None


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def write_configuration(directory):
    controller_port, node_port = free_ports(2)
    for name in ("state", "spool"):
        (directory / name).mkdir()
    key = directory / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))
    (directory / "cgroup.conf").write_text("CgroupAutomount=no\n")
    (directory / "slurm.conf").write_text(
        CONFIGURATION.format(
            host=socket.gethostname().split(".")[0],
            directory=directory,
            controller_port=controller_port,
            node_port=node_port,
            num_cpus=os.cpu_count(),
            first_job_id=random.randrange(1, 1 << 20),
        )
    )  # on a real node job ids do not come back soon


@contextlib.contextmanager
def running(directory, name, *options):
    """A daemon that stays a child of ours."""
    with open(directory / f"{name}.out", "wb") as output:
        process = subprocess.Popen(
            [name, *options], stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(what, condition, daemons, deadline):
    while not condition():
        for daemon in daemons:
            if daemon.poll() is not None:
                raise RuntimeError(f"{daemon.args[0]} ended with status {daemon.returncode}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: not in time")
        time.sleep(0.1)


def node_is_idle():
    answer = subprocess.run(
        ["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True, timeout=30
    )
    return answer.stdout.strip() == "idle"


def run_command(command, timeout):
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return process.wait(timeout=timeout)
    except subprocess.TimeoutExpired:
        print(f"with_slurm.py: the command did not end in {timeout:g} s", file=sys.stderr)
        os.killpg(process.pid, signal.SIGTERM)  # srun ends its tasks
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return TIMED_OUT


def run_beside_slurm(directory, arguments):
    write_configuration(directory)
    os.environ["SLURM_CONF"] = str(directory / "slurm.conf")
    deadline = time.monotonic() + arguments.timeout
    munge_socket = directory / "munge.socket"
    with contextlib.ExitStack() as stack:
        daemons = [
            stack.enter_context(
                running(
                    directory,
                    "munged",
                    "--foreground",
                    f"--socket={munge_socket}",
                    f"--key-file={directory}/munge.key",
                    f"--pid-file={directory}/munged.pid",
                    f"--log-file={directory}/munged.log",
                    f"--seed-file={directory}/munged.seed",
                )
            )
        ]
        wait_until("munged", munge_socket.is_socket, daemons, deadline)
        daemons.append(stack.enter_context(running(directory, "slurmctld", "-D")))
        daemons.append(stack.enter_context(running(directory, "slurmd", "-D")))
        wait_until("Slurm's node", node_is_idle, daemons, deadline)
        return run_command(arguments.command, arguments.timeout)


def main():
    arguments = parse_arguments()
    reason = reason_to_skip()
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    # An end by signal ends the daemons as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TIMED_OUT))
    with tempfile.TemporaryDirectory(prefix="hierbar-slurm-") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o711)  # munged insists on a socket that everybody can reach
        try:
            return run_beside_slurm(directory, arguments)
        except RuntimeError as error:
            print(f"with_slurm.py: {error}", file=sys.stderr)
            for log in sorted(directory.glob("*.log")) + sorted(directory.glob("*.out")):
                print(
                    f"---- {log.name}\n{log.read_text(errors='replace')[-2000:]}", file=sys.stderr
                )
            return BROKEN


if __name__ == "__main__":
    sys.exit(main())
