#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sessions of the ranks that MPICH's launcher starts, with HIERBAR_SESSIONS and the shim in the
launcher.

one_session_test.py --mpiexec mpiexec.mpich --shim build/release/lib/libhierbar_mpi.so
"""

import argparse
import os
import signal
import subprocess
import sys
import unittest

import kill_test
import launcher

RANKS = 3
ARGUMENTS = argparse.Namespace()


def environment(**variables):
    """The launcher's, with the shim where HIERBAR_SESSIONS may count."""
    return {**launcher.launch_environment(ARGUMENTS), "LD_PRELOAD": ARGUMENTS.shim, **variables}


def launch(script):
    return launcher.launch_command(ARGUMENTS, RANKS, [], [], ["sh", "-c", script])


def sessions_of_ranks(**variables):
    """For each rank its process, group, session and terminal."""
    # When all ranks end at once, the launcher now and then writes to a proxy that has ended, and
    # dies of it.
    show = "read -r line </proc/$$/stat; echo $$ ${line##*)}; sleep 0.2"
    lines = subprocess.run(
        launch(show),
        env=environment(**variables),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    ).stdout.splitlines()
    return [
        (int(words[0]), int(words[3]), int(words[4]), int(words[5]))
        for words in map(str.split, lines)
    ]


class OneSession(unittest.TestCase):
    def check_own_sessions(self, ranks):
        self.assertEqual(len(ranks), RANKS)
        for pid, _, session, _ in ranks:
            self.assertEqual(session, pid)

    def test_shared(self):
        ranks = sessions_of_ranks(HIERBAR_SESSIONS="shared")
        self.assertEqual(len(ranks), RANKS)
        self.assertEqual(len({session for _, _, session, _ in ranks}), 1, ranks)
        for pid, group, session, terminal in ranks:
            self.assertEqual(group, pid, "what the launcher sends its signals to")
            self.assertNotEqual(session, pid)
            self.assertNotEqual(session, os.getsid(0), "the proxy's session, not the user's")
            self.assertEqual(terminal, 0)

    def test_own(self):
        self.check_own_sessions(sessions_of_ranks())
        self.check_own_sessions(sessions_of_ranks(HIERBAR_SESSIONS="own"))
        self.check_own_sessions(sessions_of_ranks(HIERBAR_SESSIONS="shared", LD_PRELOAD=""))

    def test_other_programs_get_sessions(self):
        """Also if their name is that of the proxy, but their parent leads no session."""
        show = "import os\nif os.fork() == 0:\n  os.setsid()\n  os._exit(os.getsid(0) != os.getpid())\nos._exit(os.wait()[1] != 0)"
        for name in ("python3", "hydra_pmi_proxy"):
            status = subprocess.run(
                [name, "-c", show],
                executable=sys.executable,
                env=environment(HIERBAR_SESSIONS="shared"),
                check=False,
                timeout=60,
            ).returncode
            self.assertEqual(status, 0, name)

    def test_the_launcher_ends_all_that_ranks_started(self):
        """Each rank starts a process that would go on when only the rank is ended."""
        process = subprocess.Popen(
            launch("sleep 300 & echo $$ $!; wait"),
            env=environment(HIERBAR_SESSIONS="shared"),
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.stdout.close)
        pids = [int(word) for _ in range(RANKS) for word in process.stdout.readline().split()]
        self.assertEqual(len(pids), 2 * RANKS)
        process.send_signal(signal.SIGTERM)
        process.wait(kill_test.PATIENCE_S)
        kill_test.wait_until(lambda: not any(map(kill_test.is_alive, pids)))
        left = list(filter(kill_test.is_alive, pids))
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, [])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    launcher.add_arguments(parser)
    parser.add_argument("--shim", required=True)
    parser.parse_args(namespace=ARGUMENTS)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
