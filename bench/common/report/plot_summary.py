#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws what summary.py wrote with --json: for each row a bar for hierbar's time as a part of the
best other's, a tick for the machine's floor, and both times in words.

Writes OUTPUT-light.svg and OUTPUT-dark.svg, with transparent backgrounds, for pages of either kind.
Rows without a verdict are left out. Needs matplotlib (Debian: python3-matplotlib)."""

import argparse
import json
import sys

from summary import FORMAT, number, time_text

THEMES = {
    "light": {"text": "#24292f", "grid": "#d0d7de", "ours": "#0072b2", "floor": "#d55e00"},
    "dark": {"text": "#e6edf3", "grid": "#3d444d", "ours": "#56b4e9", "floor": "#e69f00"},
}
LARGEST_PART = 1.3  # of the best other's time, that is drawn


def drawn_rows(document):
    return [row for row in document["rows"] if "ratio" in row and not row["doubt"]]


def label(row):
    peer = f"{row['peer']} {time_text(row['peer_ns'])}"
    return f"{number(row['ratio'])}: {time_text(row['ours_ns'])}, {peer}"


def draw(document, theme, path):
    import matplotlib

    matplotlib.use("Agg")
    # Text stays text, and the same figures become the same file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "hierbar", "font.size": 10})
    from matplotlib import pyplot

    rows = drawn_rows(document)
    figure, axes = pyplot.subplots(figsize=(9, 0.8 + 0.4 * len(rows)))
    places = range(len(rows))
    axes.barh(
        places,
        [min(row["ratio"], LARGEST_PART) for row in rows],
        height=0.55,
        color=theme["ours"],
        label="hierbar",
    )
    floors = [
        (at, row["floor_ns"] / row["peer_ns"]) for at, row in zip(places, rows) if row["floor_ns"]
    ]
    axes.scatter(
        [part for _, part in floors],
        [at for at, _ in floors],
        marker="|",
        s=220,
        linewidths=2.5,
        color=theme["floor"],
        label="floor: what the machine needs at least",
        zorder=3,
    )
    axes.axvline(1, color=theme["text"], linewidth=1, label="best other")
    axes.set_yticks(places, [row["title"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, LARGEST_PART)
    for at, row in zip(places, rows):
        axes.text(LARGEST_PART + 0.03, at, label(row), va="center", color=theme["text"])
    axes.set_xlabel("time as a part of the best other's (left is faster)", color=theme["text"])
    axes.grid(axis="x", color=theme["grid"])
    axes.set_axisbelow(True)
    axes.tick_params(colors=theme["text"], length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, labelcolor=theme["text"]
    )
    figure.savefig(path, bbox_inches="tight", transparent=True, metadata={"Date": None})


def read_summary(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"no file of the format {FORMAT}; summary.py --json writes them")
    return document


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("summary", metavar="SUMMARY", help="the JSON file")
    parser.add_argument(
        "--output", metavar="OUTPUT", required=True, help="the pictures' names, without -light.svg"
    )
    options = parser.parse_args()
    try:
        document = read_summary(options.summary)
        for name, theme in THEMES.items():
            draw(document, theme, f"{options.output}-{name}.svg")
    except ImportError:
        print(
            "plot_summary.py: matplotlib was not found (Debian: python3-matplotlib)",
            file=sys.stderr,
        )
        return 2
    except (OSError, ValueError) as problem:
        print(f"plot_summary.py: {options.summary}: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
