# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the launchers of the MPI libraries are called, on one machine, with more ranks than cpus,
also by root."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import uuid

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from marked_processes import marked_processes

SHARED_MEMORY = pathlib.Path("/dev/shm")
LAUNCHERS = {"mpich": "mpiexec.mpich", "ompi": "mpiexec.openmpi"}

# Nothing but this machine: shared memory, and TCP on the loopback interface for whoever asks for
# it.
OMPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_tcp_if_include": "lo",
    "OMPI_MCA_oob_tcp_if_include": "lo",
}


def add_arguments(parser):
    parser.add_argument(
        "--mpi", choices=LAUNCHERS, default="mpich", help="the family of the MPI library"
    )
    parser.add_argument("--mpiexec", help="its launcher")


def launch_environment(arguments):
    """The launcher's environment: the caller's without its HIERBAR_ variables. Communicators are
    set up in their first barrier, so that programs with few barriers show what serves them;
    settings of the program may say otherwise."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("HIERBAR_")
    }
    environment["HIERBAR_MPI_SET_UP_AT"] = "1"
    if arguments.mpi == "ompi":
        environment.update(OMPI_ENVIRONMENT)
    return environment


def launch_command(arguments, ranks, settings, options, command):
    """`settings` (NAME=VALUE) are for every process of the program, also for those that it
    spawns later where that is possible; not for the launcher itself, which is no MPI program and
    does not get the shim. Several commands with ":" between them make one program; each gets
    `ranks` ranks."""
    mpiexec = arguments.mpiexec or LAUNCHERS[arguments.mpi]
    if arguments.mpi == "ompi":
        words = ["--oversubscribe"] + [word for setting in settings for word in ("-x", setting)]
    else:
        words = [word for setting in settings for word in ("-env", *setting.split("=", 1))]
        if ":" not in command:
            words = ["-genv" if word == "-env" else word for word in words]
    parts, line = [[]], [mpiexec]
    for word in command:
        if word == ":":
            parts.append([])
        else:
            parts[-1].append(word)
    for part in parts:
        line += [*words, *options, "-n", str(ranks), *part, ":"]
    return line[:-1]


def run_to_end(command, environment, timeout, directory=None):
    """Runs a launcher, and ends it and its ranks after `timeout` seconds. Returns the exit status,
    None after a timeout, the output, and the error output. Together in one pipe, a line of the one
    could begin within a line of the other."""
    name, value = "MARK_OF_A_LAUNCH", str(uuid.uuid4())
    process = subprocess.Popen(
        command,
        env={**environment, name: value},
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=timeout)
        return process.returncode, output, errors
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)  # mpiexec ends its ranks
        try:
            output, errors = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            # Proxies of launchers, and their ranks, have sessions of their own, and ranks whose
            # launcher has been killed can compute for ever.
            for number in marked_processes(f"{name}={value}"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            output, errors = process.communicate()
        return None, output, errors
    finally:
        # Whoever ends us does not see that session.
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)


def segment_names():
    """The shim's segments of shared memory; none may be left when a program has ended."""
    return {path.name for path in SHARED_MEMORY.glob("hierbar-[0-9]*")}


def is_of_running_process(name):
    """Whether the process that a segment's name names lives: hierbar-USER-NAMESPACE-PROCESS-..."""
    _, _, namespace, process = name.split("-")[:4]
    return int(namespace) == os.stat("/proc/self/ns/pid").st_ino and os.path.exists(
        f"/proc/{process}"
    )


def left_segment_names(before):
    """What programs have left that have ended since `before`. Other tests run meanwhile: a segment
    of a process that lives is theirs, and one that is gone a moment later was."""
    dead = {name for name in segment_names() - before if not is_of_running_process(name)}
    return dead & segment_names()
