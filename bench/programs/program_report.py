# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What program_table.py shows of its results: one cell for each setting of a program, the table in
Markdown with losses and geometric means, and a plot.

All figures are parts of the program's own time, also where the program prints a rate."""

import dataclasses
import statistics

from program_settings import NOT_ACTIVE, settings_of

LEAST_PAIRS = 9  # fewer are marked


@dataclasses.dataclass(frozen=True)
class Cell:
    """One setting of one program."""

    median: float  # None if nothing was compared
    low: float
    high: float
    pairs: int
    served: int  # barriers, in the last run
    is_loss: bool
    differs: str  # how the output does, or empty
    reason: str  # why there is no figure, or empty


def difference_of(output, tolerance):
    if output["kind"] in ("none", "not compared"):
        return ""
    if output["kind"] == "numbers":
        if output["largest"] <= tolerance:
            return ""
        return f"numbers in {output['lines']} lines, by up to {output['largest']:.1g}"
    return output["kind"]


def reason_of(result, ours):
    compared = result["compare"]
    if failure := compared["failure"]:
        how = f"signal {failure['signal']}" if failure["signal"] else failure["exit_status"]
        return f"{compared['ways'][failure['way']]['name']}: failed with {how}"
    if result["exit_status"] == NOT_ACTIVE:
        return f"not active: {(ours['not_active'] or {}).get('words', 'no barrier served')}"
    return "" if ours["ratio"] else "no pair is complete"


def cell_of(result, row, setting):
    ours = result["compare"]["ways"][1]
    reason = reason_of(result, ours)
    if reason:
        return Cell(None, None, None, 0, 0, False, "", reason)
    ratio = ours["ratio"]
    median, low, high = ratio["median"], ratio["lower"], ratio["upper"]
    if row.rate:
        median, low, high = 1 / median, 1 / high, 1 / low
    return Cell(
        median,
        low,
        high,
        ratio["pairs"],
        ours["openmp"]["served"] + ours["mpi"]["served"],
        median > setting.limit,
        difference_of(ours["output"], row.tolerance),
        "",
    )


def text_of(cell):
    if cell is None:
        return ""
    if cell.reason:
        return "see below"
    text = f"{cell.median:.2f} ({cell.low:.2f} to {cell.high:.2f})"
    marks = "?" * (cell.pairs < LEAST_PAIRS) + "!" * bool(cell.differs)
    return (f"**{text} loss**" if cell.is_loss else text) + (f" {marks}" if marks else "")


class Table:
    """Rows of either kind, OpenMP or MPI: they have other columns."""

    def __init__(self, title, settings):
        self.title = title
        self.settings = settings
        self.rows = []  # (row, versions, {name of a setting: Cell})

    def add(self, row, results):
        """results: {name of a setting: what was measured}; those that are missing stay empty."""
        by_name = {setting.name: setting for setting in self.settings}
        cells = {
            name: cell_of(result, row, by_name[name])
            for name, result in results.items()
            if name in by_name
        }
        versions = next((result["versions"] for result in results.values()), {})
        if cells:
            self.rows.append((row, versions, cells))

    def mean(self, setting):
        """The geometric mean of a column, or None."""
        found = [cells[setting.name].median for _, _, cells in self.rows if setting.name in cells]
        found = [value for value in found if value]
        return statistics.geometric_mean(found) if found else None

    def notes(self):
        for row, _, cells in self.rows:
            for setting in self.settings:
                cell = cells.get(setting.name)
                if cell and (cell.reason or cell.differs):
                    what = cell.reason or f"the results differ: {cell.differs}"
                    yield f"{row.title}, {setting.title}: {what}"

    def has_failed(self):
        """Whether a program failed or gave other results."""
        return any(
            cell.differs or (cell.reason and not cell.reason.startswith("not active"))
            for _, _, cells in self.rows
            for cell in cells.values()
        )

    def num_losses(self):
        return sum(cell.is_loss for _, _, cells in self.rows for cell in cells.values())

    def markdown(self):
        titles = [self.title, *(setting.title for setting in self.settings), "barriers"]
        lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
        for row, versions, cells in self.rows:
            version = next(iter(versions.values()), "")
            served = [cell.served for cell in cells.values() if not cell.reason]
            words = [f"{row.title} {version}".strip()]
            words += [text_of(cells.get(setting.name)) for setting in self.settings]
            lines.append("| " + " | ".join([*words, f"{served[0]:,}" if served else ""]) + " |")
        means = [self.mean(setting) for setting in self.settings]
        words = ["geometric mean", *(f"{mean:.2f}" if mean else "" for mean in means), ""]
        return "\n".join([*lines, "| " + " | ".join(words) + " |"])

    def as_json(self):
        return {
            "title": self.title,
            "limits": {setting.name: setting.limit for setting in self.settings},
            "geometric_means": {setting.name: self.mean(setting) for setting in self.settings},
            "programs": [
                {
                    "name": row.name,
                    "title": row.title,
                    "versions": versions,
                    "settings": {name: dataclasses.asdict(cell) for name, cell in cells.items()},
                }
                for row, versions, cells in self.rows
            ],
        }


def tables_of(rows, results, cpus):
    """results: {(name of a program, name of a setting): what was measured}"""
    tables = []
    for title, has_mpi in (("OpenMP", False), ("MPI ranks × threads", True)):
        table = Table(title, settings_of(cpus, has_mpi))
        for row in rows:
            if bool(row.mpi) == has_mpi:
                found = {of: result for (name, of), result in results.items() if name == row.name}
                table.add(row, found)
        if table.rows:
            tables.append(table)
    return tables


LEGEND = f"""Parts of the program's own time: the median of the pairs, and the range in which the
median lies with 95 %. A loss is above 1.02, beside a busy process above 1.05. `?`: fewer than
{LEAST_PAIRS} pairs, `!`: other results. `barriers` are those that hierbar served in one run."""


def page_of(tables, machine):
    parts = [f"{machine}.", LEGEND]
    for table in tables:
        parts.append(table.markdown())
        parts.append("\n".join(f"- {note}" for note in table.notes()))
    return "\n\n".join(part for part in parts if part) + "\n"


def draw(tables, path):
    """A point for each setting of a program, with its range. Needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        len(tables),
        squeeze=False,
        figsize=(9, sum(1.5 + 0.45 * len(table.rows) for table in tables)),
        height_ratios=[1.5 + 0.45 * len(table.rows) for table in tables],
    )
    for table, (axes,) in zip(tables, panels):
        names = [row.title for row, _, _ in table.rows]
        for number, setting in enumerate(table.settings):
            points = [
                (at + 0.15 * (number - 1.5), cells[setting.name])
                for at, (_, _, cells) in enumerate(table.rows)
                if setting.name in cells and cells[setting.name].median
            ]
            values = [cell.median for _, cell in points]
            axes.errorbar(
                values,
                [at for at, _ in points],
                xerr=[
                    [max(0, cell.median - cell.low) for _, cell in points],
                    [max(0, cell.high - cell.median) for _, cell in points],
                ],
                fmt="o",
                markersize=4,
                label=setting.title,
            )
        axes.axvline(1, color="gray", linewidth=1)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlabel("part of the program's own time (left of 1: hierbar is faster)")
        axes.legend(loc="best", fontsize=8)
    figure.tight_layout()
    figure.savefig(path)
