# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the lists of tests that MPICH's suite has in files called testlist. Each line is a test:

    program ranks [arg=TEXT]... [env=NAME=VALUE]... [mpiexecarg=TEXT]... [timeLimit=SECONDS]
            [resultTest=NAME]

Other words of a line (strict, xfail, mem) are for the tests' own runner, which selects by them.
"""

import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Test:
    program: str  # with its folder, as "coll/allred"
    ranks: int
    arguments: tuple = ()
    variables: tuple = ()
    launch_options: tuple = ()
    seconds: int = 0  # its own time limit; 0: it has none
    must_fail: bool = False  # it passes if the launcher's exit status is not 0

    @property
    def name(self):
        return " ".join([self.program, str(self.ranks), *self.arguments, *self.variables])


def parse(line, folder, max_ranks, more_ranks):
    """Reads one line, for at most so many ranks. Most programs run with any number; those of
    `more_ranks` have their own maximum."""
    program, ranks, *rest = line.split()
    ranks = min(int(ranks), more_ranks.get(f"{folder}/{program}", max_ranks))
    values = {}
    for word in rest:
        key, _, value = word.partition("=")
        values.setdefault(key, []).append(value)
    kind = values.get("resultTest", [""])[0]
    return Test(f"{folder}/{program}", ranks, tuple(values.get("arg", ())), tuple(values.get("env", ())),
                tuple(values.get("mpiexecarg", ())), int(values.get("timeLimit", [0])[0]), kind in ("TestStatus", "TestErrFatal"))


def read_folder(source_dir, build_dir, folder, max_ranks, more_ranks):
    """The tests of a folder, and of the folders below it that its list names. Lists that configure
    has made are in `build_dir`."""
    path = build_dir / folder / "testlist"
    if not path.exists():
        path = source_dir / folder / "testlist"
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if " " in line:
            yield parse(line, folder, max_ranks, more_ranks)
        elif line and (source_dir / folder / line).is_dir():
            yield from read_folder(source_dir, build_dir, f"{folder}/{line}", max_ranks, more_ranks)


def read(source_dir, build_dir, folders, max_ranks, more_ranks):
    """All tests by name. With fewer ranks than in the lists, some of them become the same."""
    return {test.name: test for folder in folders
            for test in read_folder(pathlib.Path(source_dir), pathlib.Path(build_dir), folder, max_ranks, more_ranks)}
