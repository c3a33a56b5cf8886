#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sessions of the ranks that MPICH's launcher starts, with HIERBAR_SESSIONS and the shim in the launcher.

    one_session_test.py --mpiexec mpiexec.mpich --shim build/release/lib/libhierbar_mpi.so
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

RANKS = 3
PATIENCE_S = 20
ARGUMENTS = argparse.Namespace()


def state_of(pid):
    """State, process group, session and terminal of a process; None when it is gone."""
    try:
        state, _, group, session, terminal = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:5]
    except (FileNotFoundError, ProcessLookupError):
        return None
    return state, int(group), int(session), int(terminal)


def environment(**variables):
    """The caller's, with the shim where HIERBAR_SESSIONS may count."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HIERBAR_")}
    return {**inherited, "LD_PRELOAD": ARGUMENTS.shim, **variables}


def sessions_of_ranks(**variables):
    """For each rank its process, group, session and terminal."""
    show = "read -r line </proc/$$/stat; echo $$ ${line##*)}"
    lines = subprocess.run([ARGUMENTS.mpiexec, "-n", str(RANKS), "sh", "-c", show], env=environment(**variables), check=True,
                           stdout=subprocess.PIPE, text=True, timeout=60).stdout.splitlines()
    return [(int(words[0]), int(words[3]), int(words[4]), int(words[5])) for words in map(str.split, lines)]


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
            status = subprocess.run([name, "-c", show], executable=sys.executable, env=environment(HIERBAR_SESSIONS="shared"),
                                    check=False, timeout=60).returncode
            self.assertEqual(status, 0, name)

    def test_the_launcher_ends_all_that_ranks_started(self):
        """Each rank starts a process that ignores the end of its parent."""
        rank = "sleep 300 & echo $$ $!; wait"
        process = subprocess.Popen([ARGUMENTS.mpiexec, "-n", str(RANKS), "sh", "-c", rank],
                                   env=environment(HIERBAR_SESSIONS="shared"), stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        pids = [int(word) for _ in range(RANKS) for word in process.stdout.readline().split()]
        self.assertEqual(len(pids), 2 * RANKS)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
        end = time.monotonic() + PATIENCE_S
        left = pids
        while left and time.monotonic() < end:
            time.sleep(0.01)
            left = [pid for pid in left if (state_of(pid) or "Z")[0] not in "ZX"]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", default="mpiexec.mpich")
    parser.add_argument("--shim", required=True)
    parser.parse_args(namespace=ARGUMENTS)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
