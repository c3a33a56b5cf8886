#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A setuid program is started by another user, who has set variables of this project, of hwloc, and
those of libomp that load code or name files: none of them counts.

Each attack is tried twice. Started by its owner the program has no more rights than its user, and
the variables must count, which shows that the attack works. Started by somebody else they must not.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ATTACKER = 54322  # needs no entry in /etc/passwd
SKIP = 77


class Attack(unittest.TestCase):
    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix="hierbar-test-", dir=ARGUMENTS.directory))
        self.addCleanup(shutil.rmtree, self.directory)
        # Nobody but the attacker reaches the setuid copies, which live for this test only.
        self.directory.chmod(0o710)
        os.chown(self.directory, 0, ATTACKER)
        self.loot = self.directory / "loot"
        self.loot.mkdir()
        self.loot.chmod(0o777)
        (self.directory / "plugins").mkdir()
        shutil.copy(ARGUMENTS.planted, self.directory / "plugins" / "hwloc_planted.so")
        self.plugins = dict(HWLOC_PLUGINS_PATH=str(self.directory / "plugins"))

    def run_program(self, command, user, **variables):
        """The standard error, and the names of the files that the run has made."""
        for file in self.loot.iterdir():
            file.unlink()
        program = self.directory / "program"
        shutil.copy(command[0], program)
        program.chmod(0o4755)
        environment = dict(
            PATH="/usr/bin:/bin", PLANTED_MARKER=str(self.loot / "marker"), **variables
        )
        launcher = [ARGUMENTS.mpiexec, "-n", "2"] if command[0] == ARGUMENTS.mpi_program else []
        ending = subprocess.run(
            [*launcher, program, *command[1:]],
            env=environment,
            cwd=self.loot,
            user=user,
            group=user,
            extra_groups=[],
            text=True,
            capture_output=True,
            timeout=60,
        )
        self.assertEqual(ending.returncode, 0, ending.stderr)
        return ending.stderr, sorted(file.name for file in self.loot.iterdir())

    def check_is_told(self, command, trace, **variables):
        """Variables that show in what the program says."""
        self.assertIn(
            trace,
            self.run_program(command, 0, **variables)[0],
            "the attack does not even work against oneself",
        )
        told, files = self.run_program(command, ATTACKER, **variables)
        self.assertNotIn(trace, told)
        self.assertEqual(files, [])

    def check_makes_file(self, command, name, **variables):
        """Variables that make it write a file or load a library that does."""
        self.assertIn(
            name,
            self.run_program(command, 0, **variables)[1],
            "the attack does not even work against oneself",
        )
        self.assertEqual(self.run_program(command, ATTACKER, **variables)[1], [])

    def write_profiles(self):
        for profile in (
            self.directory / "xdg/hierbar/profile.json",
            self.directory / "home/.config/hierbar/profile.json",
        ):
            profile.parent.mkdir(parents=True)
            profile.write_text("planted")

    # ---- libhierbar.so ----

    def test_no_plugin_of_hwloc_is_loaded(self):
        self.check_makes_file(API, "marker", **self.plugins)

    def test_no_setting_of_hwloc_counts(self):
        self.check_is_told(API, "HWLOC_COMPONENTS", HWLOC_COMPONENTS="stop")

    def test_no_topology_is_read(self):
        self.check_is_told(API, "HIERBAR_TOPOLOGY", HIERBAR_TOPOLOGY="/nonexistent.xml")
        self.check_is_told(API, "HIERBAR_TOPOLOGY", HIERBAR_TOPOLOGY="no machine")

    def test_no_profile_is_read(self):
        self.write_profiles()
        self.check_is_told(API, "profile", HIERBAR_PROFILE="/nonexistent")
        self.check_is_told(API, "profile", XDG_CONFIG_HOME=str(self.directory / "xdg"))
        self.check_is_told(API, "profile", HOME=str(self.directory / "home"))

    def test_no_setting_of_plans_counts(self):
        for name in "HIERBAR_ALGORITHM", "HIERBAR_LEVELS", "HIERBAR_RELEASE":
            self.check_is_told(API, name, **{name: "planted"})

    # ---- libomp.so and the tool ----

    def test_no_setting_of_libomp_counts(self):
        if not ARGUMENTS.libomp:
            self.skipTest("libomp is not built")
        self.check_is_told(OPENMP, "hierbar:", KMP_BARRIER="hier", HIERBAR_VERBOSE="1")
        self.check_is_told(OPENMP, "HIERBAR_PLACE", KMP_BARRIER="hier", HIERBAR_PLACE="planted")
        self.check_is_told(
            OPENMP, "HIERBAR_ALGORITHM", KMP_BARRIER="hier", HIERBAR_ALGORITHM="planted"
        )

    def test_libomp_loads_no_plugin_of_hwloc(self):
        if not ARGUMENTS.libomp:
            self.skipTest("libomp is not built")
        self.check_makes_file(OPENMP, "marker", KMP_BARRIER="hier", **self.plugins)

    def test_libomp_loads_no_code_that_a_variable_names(self):
        if not ARGUMENTS.libomp:
            self.skipTest("libomp is not built")
        self.check_makes_file(OPENMP, "marker", OMP_TOOL_LIBRARIES=ARGUMENTS.planted)
        self.check_makes_file(OPENMP, "marker", INTEL_LIBITTNOTIFY64=ARGUMENTS.planted)

    def test_libomp_opens_no_file_that_a_variable_names(self):
        if not ARGUMENTS.libomp:
            self.skipTest("libomp is not built")
        self.check_makes_file(OPENMP, "log", OMP_TOOL_VERBOSE_INIT=str(self.loot / "log"))
        self.check_is_told(
            OPENMP, "/proc/cpuinfo", KMP_SETTINGS="1", KMP_CPUINFO_FILE="/proc/cpuinfo"
        )

    def test_other_settings_of_libomp_count(self):
        if not ARGUMENTS.libomp:
            self.skipTest("libomp is not built")
        for user in 0, ATTACKER:
            self.assertIn(
                "OMP_DYNAMIC=true",
                self.run_program(OPENMP, user, KMP_SETTINGS="1", OMP_DYNAMIC="true")[0],
            )

    # The tool that the program itself has chosen.
    def test_the_tool_writes_no_file_and_loads_no_other(self):
        if not ARGUMENTS.libomp or not ARGUMENTS.tool:
            self.skipTest("libomp or the tool is not built")
        with_tool = [*OPENMP, ARGUMENTS.tool]
        self.check_makes_file(
            with_tool,
            "report.json",
            HIERBAR_REPORT="json",
            HIERBAR_OUTPUT=str(self.loot / "report"),
        )
        self.check_makes_file(with_tool, "marker", HIERBAR_OMPT_CHAIN=ARGUMENTS.planted)

    # ---- the MPI shim ----

    def test_no_setting_of_the_mpi_shim_counts(self):
        if not ARGUMENTS.mpi_program:
            self.skipTest("no MPI program")
        program = [ARGUMENTS.mpi_program, "oracle", "20"]
        self.check_is_told(program, "hierbar:", HIERBAR_VERBOSE="1")
        self.check_is_told(program, "HIERBAR_SEGMENT_KIB", HIERBAR_SEGMENT_KIB="planted")
        self.check_makes_file(
            program,
            "report-all.json",
            HIERBAR_REPORT="json",
            HIERBAR_OUTPUT=str(self.loot / "report-%r"),
        )


def why_not():
    """Why no program can get more rights than its user here; None if one can."""
    if os.geteuid() != 0:
        return "not root: no setuid program of another user can be made"
    os.chown(ARGUMENTS.directory, 0, ATTACKER)
    program = ARGUMENTS.directory / "program"
    shutil.copy(ARGUMENTS.program, program)
    program.chmod(0o4755)
    ending = subprocess.run(
        [program, "api"],
        user=ATTACKER,
        group=ATTACKER,
        extra_groups=[],
        text=True,
        capture_output=True,
    )
    program.unlink()
    if "AT_SECURE 1" in ending.stdout:
        return None
    return f"setuid does not count in {ARGUMENTS.directory} (a nosuid mount, or no_new_privs): {ending.stdout}{ending.stderr}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--planted", required=True)
    parser.add_argument("--libomp", default="")
    parser.add_argument("--tool", default="")
    parser.add_argument("--mpi-program", default="")
    parser.add_argument("--mpiexec")
    ARGUMENTS, rest = parser.parse_known_args()
    API = [ARGUMENTS.program, "api"]
    OPENMP = [ARGUMENTS.program, "openmp", ARGUMENTS.libomp]
    with tempfile.TemporaryDirectory(prefix="hierbar-test-") as directory:
        ARGUMENTS.directory = Path(directory)
        ARGUMENTS.directory.chmod(0o710)
        reason = why_not()
        if reason:
            print(f"skipped: {reason}")
            sys.exit(SKIP)
        unittest.main(argv=[sys.argv[0], *rest])
