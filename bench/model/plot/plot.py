#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws what barrier_model's table, compare, scale or design wrote with --json.

The name of the output decides its form: .svg, .png or .pdf. Times are in µs, on a logarithmic
scale. Needs matplotlib (Debian: python3-matplotlib)."""

import argparse
import json
import os
import sys
import tempfile

MOST_ROWS = 20
# Okabe and Ito's colours, which colour-blind people can distinguish; then browns and greys.
COLOURS = "#d55e00 #0072b2 #009e73 #cc79a7 #56b4e9 #e69f00 #000000 #8c6d31 #7f7f7f #bcbd22".split()


class BadReport(Exception):
    """The report is none that can be drawn; the text says why."""


def simulated(report):
    return f"simulated; medians over the parameter sets; map-by {report['map']}"


def draw_bars(axes, names, series):
    """`series`: a name and a value for each of `names`."""
    width = 0.8 / len(series)
    for i, (label, values) in enumerate(series):
        axes.bar(
            [at + width * (i - (len(series) - 1) / 2) for at in range(len(names))],
            values,
            width,
            label=label,
        )
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")


def draw_table(axes, report):
    cells = report["cells"]
    axes.set_title(
        f"MPI_Barrier on {report['machine']}: the model and the paper's measurements\n"
        f"mean error {report['train_mape_percent']:.1f} % where trained, "
        f"{report['heldout_mape_percent']:.1f} % held out (numa, socket)"
    )
    draw_bars(
        axes,
        [f"{cell['algorithm']}, {cell['mapping']}" for cell in cells],
        [(name, [cell[f"{name}_us"] for cell in cells]) for name in ("model", "paper")],
    )


def draw_growth(axes, report):
    axes.set_title(
        f"Barriers on {report['machine']}: time from one to the next\n{simulated(report)}"
    )
    counts = list(dict.fromkeys(row["participants"] for row in report["rows"]))
    for i, name in enumerate(dict.fromkeys(row["name"] for row in report["rows"])):
        rows = [row for row in report["rows"] if row["name"] == name]
        axes.plot(
            [counts.index(row["participants"]) for row in rows],
            [row["period"]["median_ns"] / 1000 for row in rows],
            marker="o",
            markersize=4,
            linewidth=3 if i == 0 else 1.5,
            label=name,
        )
    axes.set_xticks(range(len(counts)), counts)


def draw_rows(axes, report):
    rows = report["rows"][:MOST_ROWS]
    axes.set_title(f"Barriers on {report['machine']}\n{simulated(report)}")
    draw_bars(
        axes,
        [row["name"] for row in rows],
        [
            (name, [row[name]["median_ns"] / 1000 for row in rows])
            for name in ("period", "isolated")
        ],
    )


DRAWINGS = {
    "hierbar-model-table-1": draw_table,
    "hierbar-model-scale-1": draw_growth,
    "hierbar-model-compare-1": draw_rows,
    "hierbar-model-design-1": draw_rows,
}


def read_report(path):
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except OSError as problem:
        raise BadReport(f"'{path}' cannot be read: {problem.strerror}") from problem
    except ValueError as problem:
        raise BadReport(f"'{path}' is no JSON: {problem}") from problem
    form = report.get("format") if isinstance(report, dict) else None
    if form not in DRAWINGS:
        raise BadReport(
            f"'{path}': format '{form}'; allowed: what table, compare, scale and design write with "
            "--json"
        )
    return report


def draw(report, path):
    """Replaces the output as a whole, also where it is a link."""
    import matplotlib

    matplotlib.use("Agg")
    # Text stays text, and the same report becomes the same file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "hierbar"})
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(figsize=(11, 6.5))
    axes.set_prop_cycle(color=COLOURS)
    axes.set_yscale("log")
    axes.set_ylabel("µs")
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.yaxis.set_minor_locator(ticker.NullLocator())
    axes.grid(axis="y", color="#dddddd")
    axes.set_axisbelow(True)
    DRAWINGS[report["format"]](axes, report)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    suffix = os.path.splitext(path)[1]
    with tempfile.NamedTemporaryFile(
        dir=os.path.dirname(path) or ".", suffix=suffix, delete=False
    ) as file:
        temporary = file.name
    try:
        figure.savefig(
            temporary,
            bbox_inches="tight",
            dpi=150,
            metadata={"Date": None} if suffix == ".svg" else None,
        )
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("report", metavar="REPORT", help="the JSON file")
    parser.add_argument("--output", metavar="FILE", required=True, help="the picture")
    options = parser.parse_args()
    if os.path.splitext(options.output)[1] not in (".svg", ".png", ".pdf"):
        parser.error(
            f"--output: '{options.output}': allowed: a name that ends in .svg, .png or .pdf"
        )
    try:
        draw(read_report(options.report), options.output)
    except ImportError:
        sys.exit("plot.py: matplotlib was not found (Debian: python3-matplotlib)")
    except BadReport as problem:
        parser.error(f"REPORT: {problem}")
    except KeyError as problem:
        parser.error(f"REPORT: '{options.report}': {problem} is missing")
    except OSError as problem:
        parser.error(f"--output: '{options.output}': {problem.strerror}")


if __name__ == "__main__":
    main()
