#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""summary.py FILE...: compares this project with the best of the others, on one screen, from what
omp_barrier_bench and mpi_barrier_bench write with --json.

The rows are always the same, those of README's plot. A row has our median, the lowest median of any
other configuration, the ratio, the lowest and highest ratio of a repetition, and the floor of the
machine. A word stands in the ratio's place where it would mean nothing: `disturbed` if others used
the cpus in every repetition, `unclear` if the repetitions are too far apart. The floor of a decode
is its work alone; a note says how much of the time is synchronisation.

With --json the rows are written to a file too, which plot_summary.py draws.
"""

import argparse
import json
import statistics
import sys
from typing import NamedTuple

FORMAT = "hierbar-summary-1"
OURS = {"hier", "hier-gcc", "openmpi-hier", "wheel-hier", "mpich-inside"}
# Of all its variants the fastest is the floor. Older files call those in one line hints.
FLOORS = {"floor", "hint"}
PEERS = {"stock", "libgomp", "mpich", "openmpi", "other"}

# As kLargestSpread in bench/common/statistics.hpp: repetitions agree if their ratios differ by less
# than this factor, or are all by as much on the same side of 1.
LARGEST_SPREAD = 4


class Row(NamedTuple):
    title: str  # {count} and {cpus} are filled in
    file: str  # the format of the figures: omp or mpi
    quantity: str
    # Which number of participants: the smallest of two or more, the largest, or the largest for
    # which there are cpus.
    size: str
    ours: str
    kinds: set  # of configurations with which we are compared


ROWS = (
    Row("OpenMP barrier, {count} threads", "omp", "barrier", "smallest", "hier", PEERS),
    Row("the same, GCC's libgomp", "omp", "barrier", "smallest", "hier", {"libgomp"}),
    Row("MPI_Barrier, {count} ranks, MPICH", "mpi", "period", "smallest", "hier", {"mpich"}),
    Row(
        "MPI_Barrier, {count} ranks, Open MPI",
        "mpi",
        "period",
        "smallest",
        "openmpi-hier",
        {"openmpi"},
    ),
    Row("{count} ranks on {cpus}, in a loop", "mpi", "loop", "largest", "hier", {"mpich"}),
    Row(
        "{count} ranks on {cpus}, from elsewhere", "mpi", "elsewhere", "largest", "hier", {"mpich"}
    ),
    Row("regions beside a busy process", "omp", "beside", "smallest", "hier", PEERS),
    Row("parallel region, {count} threads", "omp", "parallel", "smallest", "hier", PEERS),
    Row("region with reduction, {count} threads", "omp", "reduction", "smallest", "hier", PEERS),
    Row("OpenMP barrier, {count} threads", "omp", "barrier", "largest", "hier", PEERS),
    Row("decode, {count} threads, barriers", "omp", "decode", "cpus", "hier", PEERS),
    Row("decode, {count} threads, regions", "omp", "decode-regions", "cpus", "hier", PEERS),
)


def median(series):
    return (
        series["summary"]["median"] if series.get("summary") and not series.get("failure") else None
    )


def fastest(group, wanted):
    """The fastest series of a group for which wanted(series) holds; None if there is none."""
    found = [series for series in group["series"] if wanted(series) and median(series) is not None]
    return min(found, key=median, default=None)


def ratios(group, ours, peer):
    """The ratio of the medians in each repetition that was kept and that both have."""
    kept = {block["repetition"] for block in group["blocks"] if block["kept"]}

    def medians(series):
        return {
            one["repetition"]: statistics.median(one["ns"])
            for one in series["samples"]
            if one["repetition"] in kept and one["ns"]
        }

    above, below = medians(ours), medians(peer)
    return [above[key] / below[key] for key in above if below.get(key, 0) > 0]


def doubt(group, found):
    """Why a ratio would mean nothing, as a word; empty if it counts."""
    if group.get("disturbed") is not None:
        return "disturbed"
    lowest, highest = min(found), max(found)
    agree = (
        highest <= LARGEST_SPREAD * lowest
        or highest * LARGEST_SPREAD <= 1
        or lowest >= LARGEST_SPREAD
    )
    return "" if agree else "unclear"


def group_of(row, report):
    participant, quantity = ("threads", "construct") if row.file == "omp" else ("ranks", "quantity")
    groups = [
        group
        for group in report["groups"]
        if group[quantity] == row.quantity and group[participant] >= 2
    ]
    if row.size == "cpus":
        cpus = len(report["host"]["allowed_cpus"])
        groups = [group for group in groups if group[participant] <= cpus]
    choose = min if row.size == "smallest" else max
    return choose(groups, key=lambda group: group[participant], default=None)


def sync_share(series):
    """The part of a decode that is not work; None for other rows."""
    found = series.get("sync_share")
    return found["median"] if found else None


def figures(row, report):
    """What a row says of a report; without figures if it does not have them."""
    group = group_of(row, report)
    cpus = len(report["host"]["allowed_cpus"])
    missing = cpus if row.size == "cpus" else "more"
    count = group["threads" if row.file == "omp" else "ranks"] if group else missing
    result = {"title": row.title.format(count=count, cpus="1 cpu" if cpus == 1 else f"{cpus} cpus")}
    if not group:
        return result
    return result | compared(group, row.ours, row.kinds)


def compared(group, ours_name, kinds):
    """One of our configurations beside the fastest of other kinds, for a row; empty if a group does
    not have both."""
    ours = fastest(group, lambda series: series["name"] == ours_name)
    peer = fastest(group, lambda series: series["kind"] in kinds and series["name"] not in OURS)
    found = ratios(group, ours, peer) if ours and peer else []
    if not found:
        return {}
    floor = fastest(group, lambda series: series["kind"] in FLOORS)
    return {
        "ours_ns": median(ours),
        "peer_ns": median(peer),
        "peer": peer["name"],
        "ratio": statistics.median(found),
        "spread": (min(found), max(found)),
        "floor_ns": median(floor) if floor else None,
        "doubt": doubt(group, found),
        "ours_sync_share": sync_share(ours),
        "peer_sync_share": sync_share(peer),
    }


def rows_of(reports):
    """All rows, in their order. The last report of a format counts."""
    by_file = {("omp" if "omp" in report["format"] else "mpi"): report for report in reports}
    rows = [figures(row, by_file[row.file]) for row in ROWS if row.file in by_file]
    titles = [row["title"] for row in rows]
    return [row for i, row in enumerate(rows) if row["title"] not in titles[:i]]


def time_text(ns):
    """Three digits, in the unit that keeps the number below 10,000."""
    for scale, unit in ((1, "ns"), (1e3, "µs"), (1e6, "ms")):
        if ns < 1e4 * scale:
            return f"{ns / scale:.0f} {unit}"
    return f"{ns / 1e9:.0f} s"


def number(ratio):
    """Two digits: without an exponent, which would not be read as a number."""
    return f"{ratio:.2f}" if ratio >= 0.095 else f"1/{1 / ratio:.0f}"


def line(row):
    if "ratio" not in row:
        return f"{row['title']:<36} not measured"
    floor = time_text(row["floor_ns"]) if row["floor_ns"] is not None else "-"
    spread = " .. ".join(number(ratio) for ratio in row["spread"])
    return (
        f"{row['title']:<36} {time_text(row['ours_ns']):>8} {time_text(row['peer_ns']):>10} "
        f"{row['doubt'] or number(row['ratio']):>9}  {spread:<16} {floor:>8}  {row['peer']}"
    )


def table(rows):
    head = (
        f"{'':<36} {'hierbar':>8} {'best other':>10} {'ratio':>9}  {'repetitions':<16} {'floor':>8}"
        "  best other is"
    )
    return "\n".join([head] + [line(row) for row in rows])


def sync_note(row):
    """What the ratio of a decode's times does not show: most of them is work."""
    return (
        f"{row['title']}: synchronisation takes {100 * row['ours_sync_share']:.1f} % of the time,"
        f" {100 * row['peer_sync_share']:.1f} % with {row['peer']}."
    )


def notes(reports, rows):
    """Shares of synchronisation, what others took of the machine, and what the words in place of
    ratios mean."""
    shares = [report["run"]["cpu_share_of_others"] or 0 for report in reports]
    lines = [sync_note(row) for row in rows if row.get("peer_sync_share") is not None]
    lines.append(f"Others took {100 * max(shares):.0f} % of the cpus' time.")
    doubts = {row["doubt"] for row in rows if row.get("doubt")}
    if "disturbed" in doubts:
        lines.append(
            "disturbed: others used the cpus in every repetition, so there is no verdict. "
            "Please try again when they have ended."
        )
    if "unclear" in doubts:
        lines.append("unclear: the repetitions are too far apart for a verdict.")
    return "\n".join(lines)


def machine_text(report):
    host = report["host"]
    return f"{host['cpu']}, {host['topology']}" + (", virtual machine" if host["virtual"] else "")


def document(reports, rows):
    """The rows for programs. Times are in ns."""
    return {
        "format": FORMAT,
        "machine": machine_text(reports[0]),
        "cpu_share_of_others": max(report["run"]["cpu_share_of_others"] or 0 for report in reports),
        "rows": rows,
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", metavar="FILE", nargs="+")
    parser.add_argument("--json", metavar="FILE", help="write the rows to this file too")
    options = parser.parse_args()
    reports = []
    for name in options.files:
        try:
            with open(name, encoding="utf-8") as file:
                reports.append(json.load(file))
        except (OSError, ValueError) as error:
            print(f"summary.py: {name}: {error}", file=sys.stderr)
            return 2
    rows = rows_of(reports)
    print(machine_text(reports[0]))
    print(table(rows))
    print(notes(reports, rows))
    if options.json:
        try:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(document(reports, rows), file, indent=1)
                file.write("\n")
        except OSError as error:
            print(f"summary.py: --json: {options.json}: {error.strerror}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
