# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the words behind `python -m hierbar` to those of the command `hierbar`.

Apart from __main__.py, because doctest would take a module of that name for itself.
"""

import sys

# Commands whose last words are a program.
STARTS_PROGRAM = {"check", "compare", "doctor", "run", "show", "tune"}


def program_of(words):
    """The words of a program, with this Python in front of what only it can run."""
    if words and (words[0] in ("-m", "-c") or words[0].endswith(".py")):
        return [sys.executable, *words]
    return words


def is_program(word):
    return not word.startswith("-") or word in ("-m", "-c")


def command_line(words):
    """What `hierbar` is called with: it wants "--" in front of a program. Without one the program
    begins at the first word that is no option.

    >>> command_line(["run", "--verbose", "./app", "-n", "3"])
    ['run', '--verbose', '--', './app', '-n', '3']
    >>> command_line(["run", "--mpi", "mpich", "--", "./app", "--", "x"])
    ['run', '--mpi', 'mpich', '--', './app', '--', 'x']
    >>> command_line(["run", "a.py", "-m"])[-3:] == [sys.executable, "a.py", "-m"]
    True
    >>> command_line(["run", "--quiet", "-m", "a"])[-3:] == [sys.executable, "-m", "a"]
    True
    >>> command_line(["run", "--help"]), command_line(["topo", "x.py"]), command_line([])
    (['run', '--help'], ['topo', 'x.py'], [])
    """
    if not words or words[0] not in STARTS_PROGRAM:
        return words
    if "--" in words:
        end = words.index("--")
        program = words[end + 1 :]
    else:
        end = next((i for i, word in enumerate(words) if i > 0 and is_program(word)), len(words))
        program = words[end:]
    return words[:end] + (["--", *program_of(program)] if program else [])
