# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A case: a driver and its macros. cases.py and collective_cases.py list them."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    driver: str
    about: str
    defines: dict
    quick: bool = True  # part of --quick
    kills: bool = True  # tried on mutants, because it is short enough
    # Barriers run on RealMem. Not for mutants of Mem's operations, which only ModelMem understands.
    real_mem: bool = False

    def __hash__(self):
        return hash(self.name)


def shape(parents, **others):
    """The macros of case.hpp. parents: the parent of each participant."""
    defines = {"MODEL_PARENTS": ",".join(map(str, parents))}
    for name, value in others.items():
        defines["MODEL_" + name.upper()] = (
            ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        )
    return defines


# Only for the full run: they take too long for each mutant.
LONG = {"quick": False, "kills": False}

# A sleeper sleeps twice in a wait, and may be woken for no reason.
NAPS = {"spurious": 1, "naps": 2}

FLAT2, FLAT3, FLAT4 = (0, 1), (0, 1, 2), (0, 1, 2, 3)
ALL = {2: 0b11, 3: 0b111, 4: 0b1111}
