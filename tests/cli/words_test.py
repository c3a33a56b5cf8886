#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""words_test.py HIERBAR WORDS: whether the options of all commands are those of docs/words.md.

An option that is not in the table, a command that its row does not name, a command that a row names
without need, and help that begins with other words than the row's are failures.
"""

import re
import subprocess
import sys

COLUMN = 30  # where descriptions begin


def rows(path):
    """By each name of an option: all its names, the words, and the commands."""
    found = {}
    for line in open(path, encoding="utf-8"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        names = re.findall(r"`(--?[a-z-]+)`", cells[0])
        if len(cells) != 3 or not names:
            continue
        for name in names:
            assert name not in found, f"{name} stands twice in {path}"
            found[name] = names, cells[1], set(cells[2].split(", "))
    return found


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout


def commands(hierbar):
    listed = output_of(hierbar, "--help").split("Subcommands:")[1]
    return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)


def options(hierbar, command):
    """The names of each option, and where its description may begin: on its line or on the next."""
    lines = output_of(hierbar, command, "--help").split("\n\n")
    lines = next(part for part in lines if part.startswith("Options:")).split("\n")
    for line, after in zip(lines, lines[1:] + [""]):
        head = re.match(r"  (-\S+)", line)
        if head:
            yield head.group(1).split(","), (line[COLUMN:], after.strip())


def problems(hierbar, path):
    table = rows(path)
    used = {}
    for command in commands(hierbar):
        for names, descriptions in options(hierbar, command):
            if "--help" in names:
                continue
            row = table.get(names[-1])
            if row is None or not set(names) <= set(row[0]):
                yield f"{command}: {', '.join(names)} is not in the table"
                continue
            used.setdefault(names[-1], set()).add(command)
            if not any(one.startswith(row[1]) for one in descriptions):
                yield f"{command}: the help of {names[-1]} does not begin with '{row[1]}'"
    for name, (names, _, named) in table.items():
        if name == names[-1] and named != used.get(name, set()):
            yield f"{name}: the table has {sorted(named)}, and it is in {sorted(used.get(name, []))}"


def main():
    found = list(problems(sys.argv[1], sys.argv[2]))
    print("\n".join(found) if found else "ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
