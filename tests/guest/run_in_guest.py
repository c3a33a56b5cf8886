#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command in a virtual machine that has the packages, NUMA nodes, L3 caches and cores that
one asks for.

    run_in_guest.py --shape 2x2x1x4 -- lscpu
    run_in_guest.py --shape 2x2x2x2 --env KMP_BARRIER=hier \\
        --env LD_LIBRARY_PATH=build/release/lib -- ./program

The guest sees this machine's files, and what it writes is lost with it: nothing on this machine
changes. The command runs as root in the current directory, with PATH, HOME, LANG and the variables
of --env only; a command of several words with shell syntax is run by `-- sh -c '...'`. What it
writes is passed on as it comes, standard output and error apart.

Now and then an emulated machine hangs while it boots, without a word on its console: one in five on
a Xeon host. A guest that has not begun with the command after 90 s is started again, as long as
there is time.

QEMU emulates every cpu in software: caches and distances look right to programs, and times mean
little. A boot takes 10 to 20 s on 2 cores. The kernel comes from fetch_kernel.sh; an installed one
of this machine does as well, if busybox-static is installed beside it.

Nothing is left behind: QEMU is a child of this script, ends with it whatever ends it, and its files
are removed. (A script that is killed by SIGKILL leaves its directory in TMPDIR.)

Exit status: the command's; 124 when it did not end in time; 125 when the guest failed; 77 when
there is no QEMU or no kernel; 2 for bad arguments.
"""

import argparse
import ctypes
import os
import pathlib
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import guest

SKIPPED, TIMED_OUT, BROKEN = 77, 124, 125
QEMU = "qemu-system-x86_64"
BOOT_S = 90  # five times what a boot takes on a busy machine
PR_SET_PDEATHSIG = 1


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--shape",
        type=guest.parse,
        default="2x2x1x4",
        metavar="PACKAGESxNUMAxL3xCORES[xTHREADS]",
        help="each count per unit of the one before it; at most %d cpus (default: %%(default)s)"
        % guest.MAX_CPUS,
    )
    parser.add_argument(
        "--memory",
        type=int,
        default=4096,
        metavar="MIB",
        help="of the whole guest (default: %(default)s)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=240,
        metavar="SECONDS",
        help="for boot and command (default: %(default)g)",
    )
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a variable of the command; may be repeated",
    )
    parser.add_argument(
        "--kernel",
        type=pathlib.Path,
        metavar="DIRECTORY",
        help="has boot/vmlinuz-*, lib/modules and bin/busybox (default: that of fetch_kernel.sh, then this machine's)",
    )
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="print QEMU's command line, and at the end the guest's console",
    )
    parser.add_argument("command", nargs="+", help="the command and its arguments, after --")
    arguments = parser.parse_args()
    for setting in arguments.env:
        if not setting.partition("=")[0].isidentifier() or "=" not in setting:
            parser.error(f"argument --env: '{setting}': must be NAME=VALUE")
    if arguments.memory < 64 * arguments.shape.num_nodes + 256:
        parser.error(
            f"argument --memory: {arguments.memory}: must be at least {64 * arguments.shape.num_nodes + 256} for this shape"
        )
    return arguments


def make_command(arguments):
    variables = {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": "/root",
        "LANG": "C.UTF-8",
    }
    variables.update(setting.split("=", 1) for setting in arguments.env)
    words = [
        "exec",
        "env",
        "-i",
        *(f"{name}={value}" for name, value in variables.items()),
        *arguments.command,
    ]
    return f"cd {shlex.quote(os.getcwd())} || exit 125\n" + shlex.join(words) + "\n"


def qemu_command(arguments, kernel, directory):
    # The kernel finds out which cpus share an L3 or a core from Intel's leaves; TCG lacks AMD's
    # leaf for that. There is a thread for each cpu. With one thread for all, a cpu that polls
    # without `pause`, as MPI libraries do, would use up 100 ms each time.
    return [
        QEMU,
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-no-reboot",
        "-machine",
        "q35",
        "-accel",
        "tcg,thread=multi",
        "-cpu",
        "max,vendor=GenuineIntel,family=6,model=106",
        *guest.qemu_options(arguments.shape, arguments.memory),
        "-kernel",
        str(kernel.image),
        "-initrd",
        str(directory / "initramfs"),
        "-append",
        "console=ttyS0 quiet panic=-1 mitigations=off nowatchdog random.trust_cpu=on",
        "-serial",
        f"file:{directory / 'console'}",
        "-virtfs",
        "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
        "-virtfs",
        f"local,path={directory / 'result'},mount_tag=result,security_model=none",
    ]


def dying_with(parent):
    """Returns a function that ends a child of `parent` with its parent; the child must call it.

    The parent may have ended before the child asks for the signal."""

    def ask():
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return ask


class Forwarder:
    """Passes on what was added to a file since the last time."""

    def __init__(self, path, stream):
        path.touch()
        self._file = open(path, "rb")
        self._stream = stream.buffer

    def forward(self):
        content = self._file.read()
        if content:
            self._stream.write(content)
            self._stream.flush()


def wait(process, forwarders, deadline, began):
    """Returns whether the guest ended in time. One that has not begun with its command in time does
    not.
    """
    boot_deadline = min(time.monotonic() + BOOT_S, deadline)
    while True:
        try:
            process.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            pass
        for forwarder in forwarders:
            forwarder.forward()
        if process.returncode is not None:
            return True
        if time.monotonic() > (deadline if began.exists() else boot_deadline):
            return False


def run_qemu(command, forwarders, deadline, began):
    """Returns whether the guest ended in time, and QEMU's exit status."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, preexec_fn=dying_with(os.getpid())
    ) as process:
        try:
            ended = wait(process, forwarders, deadline, began)
        finally:
            process.kill()
    return ended, process.returncode


def run(arguments, kernel, directory):
    result = directory / "result"
    result.mkdir()
    (directory / "initramfs").write_bytes(guest.make_initramfs(kernel, make_command(arguments)))
    forwarders = [
        Forwarder(result / "stdout", sys.stdout),
        Forwarder(result / "stderr", sys.stderr),
    ]
    command = qemu_command(arguments, kernel, directory)
    if arguments.verbose:
        print(f"run_in_guest.py: {arguments.shape}; {shlex.join(command)}", file=sys.stderr)
    began, status = result / "began", result / "status"
    deadline = time.monotonic() + arguments.timeout
    ended, qemu_status = run_qemu(command, forwarders, deadline, began)
    while not ended and not began.exists() and time.monotonic() < deadline:
        print(f"run_in_guest.py: did not boot in {BOOT_S} s, is started again", file=sys.stderr)
        ended, qemu_status = run_qemu(command, forwarders, deadline, began)
    console = (
        (directory / "console").read_text(errors="replace")
        if (directory / "console").exists()
        else ""
    )
    if arguments.verbose:
        print(console, file=sys.stderr)
    if not ended:
        print(f"run_in_guest.py: did not end in {arguments.timeout:g} s", file=sys.stderr)
        return TIMED_OUT
    if not status.exists():
        print(
            f"run_in_guest.py: the guest failed; QEMU's exit status is {qemu_status}, the end of the console:\n{console[-2000:]}",
            file=sys.stderr,
        )
        return BROKEN
    return int(status.read_text())


def main():
    arguments = parse_arguments()
    if platform.machine() != "x86_64":
        print(
            f"skipped: the guest runs this machine's programs, and {platform.machine()} is not supported"
        )
        return SKIPPED
    if not shutil.which(QEMU):
        print(f"skipped: no {QEMU} here (Debian: qemu-system-x86)")
        return SKIPPED
    kernel = guest.find_kernel(arguments.kernel)
    if not kernel:
        print(
            f"skipped: no kernel for the guest (tests/guest/fetch_kernel.sh fetches one into {guest.cache_directory()})"
        )
        return SKIPPED
    # So that the files are removed if a signal ends the script.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TIMED_OUT))
    with tempfile.TemporaryDirectory(prefix="hierbar-guest-") as name:
        return run(arguments, kernel, pathlib.Path(name))


if __name__ == "__main__":
    sys.exit(main())
