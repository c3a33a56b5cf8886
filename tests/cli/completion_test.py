#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""completion_test.py HIERBAR: whether bash, zsh and fish complete the words of `hierbar`.

Each shell loads the script that the command prints. Bash and zsh run on a terminal, where words are
typed and the Tab key is pressed; fish tells by itself how it would complete a line.
"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HIERBAR = os.path.abspath(sys.argv.pop())
WAIT_S = 20
READY = "ready"


def output_of(*command):
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=WAIT_S
    ).stdout


def commands():
    text = output_of(HIERBAR, "--help").split("Subcommands:\n")[1]
    return re.findall(r"^  ([a-z]+) ", text, re.MULTILINE)


def long_options(command):
    text = output_of(HIERBAR, command, "--help").split("\nOptions:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.MULTILINE)


def offered_by_bash(*words):
    """What bash offers behind `hierbar` and these words, without a terminal."""
    ask = (
        'eval "$("$1" completion bash)"; COMP_WORDS=(hierbar "${@:2}" ""); COMP_CWORD=$#; _hierbar; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return output_of("bash", "-c", ask, "bash", HIERBAR, *words).split()


class Terminal:
    """An interactive shell in a directory with the files of the test, which has loaded the script."""

    def __init__(self, command, setup, directory):
        environment = {
            "PATH": os.path.dirname(HIERBAR) + ":" + os.environ["PATH"],
            "HOME": directory,
            "TERM": "dumb",
            "PS1": "",
            "LC_ALL": "C",
        }
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, environment)
        for line in setup:
            self.type(line + "\n")
        self.type("echo rea''dy\n")
        self.read_until(READY)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, word):
        """What the terminal shows until it shows this; fails when it does not come."""
        text, end = "", time.monotonic() + WAIT_S
        while word not in text:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                raise AssertionError(f"the shell shows {text!r}, and not {word!r}")
            text += os.read(self.terminal, 4096).decode(errors="replace").replace("\r", "")
        return text

    def expect(self, typed, shown):
        """Types the words and Tab twice; the completed line, or the list of choices, has `shown`."""
        self.type(typed + "\t\t")
        self.read_until(shown)
        self.type("\x15")  # the line goes

    def close(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


class ShellTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        pathlib.Path(self.directory, "run-0.json").touch()

    def terminal(self, command, *setup):
        if shutil.which(command[0]) is None:
            self.skipTest(f"there is no {command[0]}")
        terminal = Terminal(command, setup, self.directory)
        self.addCleanup(terminal.close)
        return terminal

    def expect_the_usual(self, terminal):
        terminal.expect("hierbar to", "po")
        terminal.expect("hierbar topo --topo", "logy")
        terminal.expect("hierbar run --mpi ompi", "")  # no such word: nothing is added
        terminal.expect("hierbar run --mpi ope", "nmpi")
        terminal.expect("hierbar place --proc-bind sp", "read")
        terminal.expect("hierbar report run", "-0.json")
        terminal.expect("hierbar completion fi", "sh")
        terminal.expect("hierbar run -- printen", "v")

    def test_bash(self):
        terminal = self.terminal(
            ["bash", "--norc", "--noprofile", "-i"], 'eval "$(hierbar completion bash)"'
        )
        self.expect_the_usual(terminal)
        terminal.expect("hierbar run --mpi=ope", "nmpi")

    def test_bash_with_bash_completion(self):
        script = "/usr/share/bash-completion/bash_completion"
        if not os.path.exists(script):
            self.skipTest("there is no bash-completion")
        terminal = self.terminal(
            ["bash", "--norc", "--noprofile", "-i"],
            f". {script}",
            'eval "$(hierbar completion bash)"',
        )
        self.expect_the_usual(terminal)
        terminal.expect("hierbar run -- env --unse", "t=")  # the program's own completion

    def test_zsh(self):
        self.expect_the_usual(
            self.terminal(
                ["zsh", "-f", "-i"],
                "autoload -U compinit; compinit -u",
                "source <(hierbar completion zsh)",
            )
        )

    def test_bash_offers_all_commands_and_options(self):
        self.assertEqual(set(commands()) | {"--help", "--version"}, set(offered_by_bash()))
        for command in commands():
            offered = offered_by_bash(command)
            for option in long_options(command):
                self.assertIn(option, offered, command)

    def test_fish(self):
        if shutil.which("fish") is None:
            self.skipTest("there is no fish")

        def offered(line):
            program = f"{HIERBAR} completion fish | source; complete -C '{line}'"
            environment = {**os.environ, "HOME": self.directory}
            result = subprocess.run(
                ["fish", "--no-config", "-c", program],
                capture_output=True,
                text=True,
                check=True,
                timeout=WAIT_S,
                cwd=self.directory,
                env=environment,
            )
            self.assertEqual(result.stderr, "")
            return [one.split("\t")[0] for one in result.stdout.splitlines()]

        self.assertTrue(set(commands()) <= set(offered("hierbar ")))
        for command in commands():
            self.assertTrue(
                set(long_options(command)) <= set(offered(f"hierbar {command} --")), command
            )
        self.assertEqual(offered("hierbar run --mpi ope"), ["openmpi"])
        self.assertEqual(offered("hierbar report run"), ["run-0.json"])
        self.assertIn("printenv", offered("hierbar run -- printen"))


class CommandTest(unittest.TestCase):
    def test_choices_are_accepted(self):
        # Every launcher knows this pattern.
        packed = ["place", "--per-node", "2", "-t", "1", "--pattern", "packed"]
        for line in (
            [*packed, "--proc-bind"],
            [*packed, "--settings"],
            ["plan", "--participants", "4", "--map"],
            ["plan", "--participants", "4", "--release"],
        ):
            choices = offered_by_bash(*line)
            self.assertGreater(len(choices), 2, line)
            for choice in choices:
                output_of(HIERBAR, *line, choice)

    def test_another_shell_is_refused(self):
        result = subprocess.run(
            [HIERBAR, "completion", "tcsh"],
            capture_output=True,
            text=True,
            check=False,
            timeout=WAIT_S,
        )
        self.assertEqual(result.returncode, 2)
        self.assertIn("'tcsh'", result.stderr)
        self.assertIn("bash, zsh, fish", result.stderr)


if __name__ == "__main__":
    unittest.main()
