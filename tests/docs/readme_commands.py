# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of a document, and what it says that they print.

Each fenced block of commands (```console or ```sh) has a mark in the line before it:

    <!-- run: NAME -->               commands after "$ ", each with the output that is expected of it
    <!-- run elsewhere: FILE -->     FILE, of the repository, runs the block's first command
"""

import re

COMMANDS = ("console", "sh")  # the words behind a fence
MARK = re.compile(r"<!-- run( elsewhere)?: (\S+) -->")


class Block:
    """The lines between two fences; `line` is the number of the first."""

    def __init__(self, line, mark):
        self.line = line
        self.name = mark.group(2) if mark else None
        self.is_elsewhere = bool(mark and mark.group(1))
        self.lines = []

    def commands(self):
        """Pairs of a command and the lines that it is to print."""
        found = []
        for line in self.lines:
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found and line:
                found[-1][1].append(line)
        return found

    def first_word(self):
        """The program that the first line runs."""
        return self.lines[0].removeprefix("$ ").split()[0]


def blocks_of(text):
    """All fenced blocks of commands."""
    blocks, mark, fence = [], None, None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            fence = line[3:] if fence is None else None
            if fence in COMMANDS:
                blocks.append(Block(number + 1, mark))
            mark = None
        elif fence in COMMANDS:
            blocks[-1].lines.append(line)
        elif fence is None and line.strip():
            mark = MARK.fullmatch(line.strip())
    return blocks


def pattern_of(expected):
    """A pattern for a line in which a number may be another one, but zero stays zero."""
    parts = re.split(r"(\d+)", expected)
    return "".join(re.escape(part) if not part.isdigit() else "0" if part == "0" else r"[1-9]\d*" for part in parts)


def missing_lines(expected, output):
    """The expected lines that the output does not have, in their order."""
    lines = iter(output.splitlines())
    return [line for line in expected if not any(re.fullmatch(pattern_of(line), printed) for printed in lines)]


def unmarked_blocks(text):
    """Faults of the marks: blocks that nobody runs."""
    return [f"line {block.line}: nothing says what runs '{block.lines[0]}'" for block in blocks_of(text) if block.name is None]
