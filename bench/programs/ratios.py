# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compare_programs.py makes of the rounds' values: ratios of runs that stood beside each
other.
"""

import dataclasses
import statistics

OURS = "hier"
STOCK = "stock"  # the names of stock's runtimes begin with it


@dataclasses.dataclass(frozen=True)
class Ratio:
    """Our value to another runtime's."""

    other: str
    median: float
    low: float  # quartiles over the rounds
    high: float


@dataclasses.dataclass(frozen=True)
class Row:
    title: str  # the program and its compiler
    figure: str
    unit: str
    medians: dict  # runtime: value
    ratios: tuple

    def is_loss(self, limit):
        """Whether it takes more than `limit` of stock's time."""
        return any(ratio.other.startswith(STOCK) and ratio.median > limit for ratio in self.ratios)


def ratio_of(ours, theirs, other):
    """None where the other one's value is nothing, as an overhead may be."""
    pairs = [a / b for a, b in zip(ours, theirs) if b > 0]
    if statistics.median(theirs) <= 0 or len(pairs) < 2:
        return None
    low, median, high = statistics.quantiles(pairs, n=4, method="inclusive")
    return Ratio(other, median, low, high)


def row_of(title, figure, unit, values):
    """values: {runtime: the values of all rounds}. Of stock's runtimes only the fastest is
    compared.
    """
    medians = {runtime: statistics.median(found) for runtime, found in values.items()}
    stock = [runtime for runtime in medians if runtime.startswith(STOCK)]
    others = [min(stock, key=medians.get)] if stock else []
    others += [runtime for runtime in medians if runtime != OURS and runtime not in stock]
    ratios = (ratio_of(values[OURS], values[other], other) for other in others)
    return Row(title, figure, unit, medians, tuple(filter(None, ratios)))


def rows_of(program, samples):
    """samples: {runtime: the figures of each round}. A figure that some runtime does not print is
    left out.
    """
    figures = [
        figure
        for figure in samples[OURS][0]
        if all(figure in found for rounds in samples.values() for found in rounds)
    ]
    for figure in figures:
        values = {
            runtime: [found[figure] for found in rounds] for runtime, rounds in samples.items()
        }
        yield row_of(program.title, figure, program.unit, values)


def text_of(row, limit):
    ratios = "  ".join(
        f"{ratio.median:5.2f} of {ratio.other} [{ratio.low:.2f} .. {ratio.high:.2f}]"
        for ratio in row.ratios
    )
    loss = f"  LOSS: above {limit:.2f} of stock" if row.is_loss(limit) else ""
    ours = f"  {row.figure:16} {row.medians[OURS]:10.3f} {row.unit:6}"
    return f"{ours} {ratios or 'the others take no time'}{loss}"
