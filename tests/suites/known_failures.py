# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is known about a suite on one library. It is a list in a file, and each line has its cause,
so that nothing is left out silently.

    [fails]
    comm/name 4                 # the cause

    [not built]
    rma/name                    # the cause

    [not run]
    coll/name *                 # the cause

    [more ranks]
    group/name 8                # the cause

`fails`: tests that fail on the unmodified library too. They run, but they are not run on stock
again. `not built`: programs that do not compile with this library. `not run`: tests that cannot run
here; '*' as the last word stands for all numbers of ranks and all arguments. `more ranks`: programs
that may have more ranks than others.
"""

import dataclasses

from compare import CannotRun, failed

SECTIONS = ("fails", "not built", "not run", "more ranks")


@dataclasses.dataclass
class KnownFailures:
    fails: dict
    not_built: dict
    not_run: dict
    more_ranks: dict

    def max_ranks(self):
        """The number of ranks that each program of [more ranks] may have."""
        return {program: int(ranks) for program, ranks in map(str.split, self.more_ranks)}

    def excuse(self, test):
        """Why a test is not run here, or None."""
        program = test.split()[0]
        return (
            self.not_built.get(program)
            or self.not_run.get(test)
            or self.not_run.get(f"{program} *")
        )

    def stale(self, codes, built, tests):
        """What is wrong in the list, given the results of a whole run, the programs that were
        built, and all tests."""
        programs = {test.split()[0] for test in tests}
        for test in self.fails:
            if test not in codes:
                yield f"'{test}' of [fails] is no test that runs"
            elif not failed(codes[test]):
                yield f"'{test}' of [fails] does not fail"
        for program in self.not_built:
            if program in built:
                yield f"'{program}' of [not built] compiles"
            elif program not in programs:
                yield f"'{program}' of [not built] is no program of the suite"
        for program in self.max_ranks():
            if program not in programs:
                yield f"'{program}' of [more ranks] is no program of the suite"
        for entry in self.not_run:
            if entry not in tests and not (
                entry.endswith(" *") and entry.removesuffix(" *") in programs
            ):
                yield f"'{entry}' of [not run] is no test of the suite"


def read(path):
    sections = {name: {} for name in SECTIONS}
    section = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        entry, _, cause = (part.strip() for part in line.partition("#"))
        if not entry:
            continue
        if entry.startswith("["):
            section = sections.get(entry.strip("[]"))
            if section is None:
                raise CannotRun(
                    f"{path}:{number}: '{entry}' is not one of {', '.join(f'[{name}]' for name in SECTIONS)}"
                )
        elif section is None or not cause:
            raise CannotRun(
                f"{path}:{number}: '{entry}' must be in a section and have a cause after '#'"
            )
        else:
            section[entry] = cause
    return KnownFailures(*(sections[name] for name in SECTIONS))
