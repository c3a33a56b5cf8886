# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of a document, and what it says that they print.

Each indented block of commands has a mark in the line before it:

    <!-- run: NAME -->               commands after "$ ", each with the output that is expected of it
    <!-- run elsewhere: FILE -->     FILE, of the repository, runs the block's first command
"""

import re

MARK = re.compile(r"<!-- run( elsewhere)?: (\S+) -->")


class Block:
    """Indented lines of a document; `line` is the number of the first."""

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
    """All indented blocks. An empty line between two indented ones belongs to the block."""
    blocks, mark, is_open = [], None, False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("    "):
            if not is_open:
                blocks.append(Block(number, mark))
            blocks[-1].lines.append(line[4:])
            is_open, mark = True, None
        elif line.strip():
            is_open, mark = False, MARK.fullmatch(line.strip())
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
