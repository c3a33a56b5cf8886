# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of a page, and what it says that they print.

Each fenced block of commands (```console or ```sh) has a mark in the line before it:

    <!-- run: NAME -->               each command after "$ " is run, and the lines below it are
                                     expected in what it prints
    <!-- run, exit N: NAME -->       the same, and the last command's exit status is N
    <!-- run elsewhere: FILE -->     FILE, of the repository, runs the block's first command
    <!-- not run: REASON -->         its options, presets, variables and files are looked up

An expected line may have other numbers than the output (but 0 stays 0), and `...` stands for any
text. Lines that are only printed are in a block of another kind, such as ```text.
"""

import re
import shlex

COMMANDS = ("console", "sh")  # the words behind a fence
MARK = re.compile(r"<!-- (run|run, exit (?P<exit>\d+)|run elsewhere|not run): (?P<name>.+) -->")


class Block:
    """The lines between two fences; `line` is the number of the first."""

    def __init__(self, line, mark):
        self.line = line
        self.how = mark and mark.group(1).split(",")[0]
        self.name = mark and mark.group("name")
        self.exit_status = int(mark.group("exit") or 0) if mark else 0
        self.lines = []

    def commands(self):
        """Pairs of a command and the lines that it is to print."""
        found = []
        for line in self.lines:
            if found and found[-1][0].endswith("\\"):
                found[-1] = (f"{found[-1][0][:-1].rstrip()} {line.strip()}", found[-1][1])
            elif line.startswith("$ "):
                found.append((line[2:], []))
            elif found and line and line != "...":
                found[-1][1].append(line)
        return found

    def first_word(self):
        """The program that the first line runs."""
        return self.lines[0].removeprefix("$ ").split()[0]


def fences_of(text):
    """(word, block) for each fence; the block's mark is the line of text before it."""
    mark, block, indent = None, None, 0
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip().startswith("```"):
            if block:
                block = None
            else:
                indent = len(line) - len(line.lstrip())
                block = Block(number + 1, mark)
                yield line.strip()[3:], block
            mark = None
        elif block:
            block.lines.append(line[indent:])
        elif line.strip():
            mark = MARK.fullmatch(line.strip())


def blocks_of(text):
    """All fenced blocks of commands."""
    return [block for word, block in list(fences_of(text)) if word in COMMANDS]


def pattern_of(expected):
    """A pattern for a line in which a number may be another one, but zero stays zero."""

    def of(part):
        if part == "...":
            return ".*"
        if re.fullmatch(r"\d+\.\d+", part):
            return r"\d+\.\d+"
        if part.isdigit():
            return "0" if part == "0" else r"[1-9]\d*"
        return re.escape(part)

    return "".join(map(of, re.split(r"(\.\.\.|\d+\.\d+|\d+)", expected)))


def missing_lines(expected, output):
    """The expected lines that the output does not have, in their order."""
    lines = iter(output.splitlines())
    return [
        line
        for line in expected
        if not any(line == text or re.fullmatch(pattern_of(line), text) for text in lines)
    ]


def faults_of_marks(text):
    """Blocks that nobody runs or looks up, and those that hide from this."""
    faults = []
    for word, block in list(fences_of(text)):
        if word in COMMANDS and block.how is None:
            faults.append(f"line {block.line}: nothing says what runs '{block.lines[0]}'")
        elif word in COMMANDS and block.how != "run elsewhere" and not block.commands():
            faults.append(f"line {block.line}: a command begins with '$ '")
        elif word not in COMMANDS and any(line.startswith("$ ") for line in block.lines):
            faults.append(f"line {block.line}: commands are in a ```console block")
        elif not word:
            faults.append(f"line {block.line}: the fence does not say what it holds")
    return faults + list(faults_of_indents(text))


def faults_of_indents(text):
    """Blocks by indent alone, which nothing can mark."""
    is_fenced, was_empty = False, True
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip().startswith("```"):
            is_fenced = not is_fenced
        elif not is_fenced and was_empty and line.startswith("    ") and line.strip():
            yield f"line {number}: a block needs a fence: '{line.strip()}'"
        was_empty = not line.strip()


def calls_in(command, is_ours):
    """The calls of programs of ours within a command: (program, subcommand, options).

    Options end at `--`, where another command begins. Behind `python -m` there is a module, which
    may have options of its own.
    """
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.wordchars += "%,+{}$@:"  # the shell divides words elsewhere
    calls, is_open, before = [], False, ""
    for word in lexer:
        if set(word) <= set("();<>|&") or word == "--":
            is_open = False
        elif is_ours(word) and before != "-m":
            calls.append((word, [], []))
            is_open = True
        elif is_open and word.startswith("-"):
            calls[-1][2].append(word.split("=")[0])
        elif is_open:
            calls[-1][1].append(word)
        before = word
    return [(word, plain[0] if plain else None, options) for word, plain, options in calls]
