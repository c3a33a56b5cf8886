#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""summary.py FILE...: at most six rows that compare this project's barriers with the best of the others, from
what omp_barrier_bench and mpi_barrier_bench write with --json.

A row has our median, the lowest median of any other configuration, and its name. The ratio is that of the
medians. Rows whose figures are missing are left out.
"""

import argparse
import json
import sys

OURS = {"hier", "hier-gcc", "openmpi-hier", "wheel-hier", "mpich-inside"}
PEERS = {"stock", "libgomp", "mpich", "openmpi", "other"}

# The quantity in the file, its title, our configuration, what may be compared with it.
OPENMP_ROWS = (("barrier", "OpenMP barrier"), ("parallel", "parallel region"), ("reduction", "region with reduction"))
MPI_ROWS = (("hier", "MPI_Barrier under MPICH", "mpich"), ("openmpi-hier", "MPI_Barrier under Open MPI", "openmpi"))


def median(series):
    return series["summary"]["median"] if series.get("summary") else None


def best_peer(group, kinds):
    """Name and median of the fastest configuration of these kinds that is not ours; None if there is none."""
    found = [(median(series), series["name"]) for series in group["series"]
             if series["kind"] in kinds and series["name"] not in OURS and median(series) is not None]
    return min(found, default=None)


def row(title, group, ours, kinds):
    value = next((median(series) for series in group["series"] if series["name"] == ours), None)
    peer = best_peer(group, kinds)
    if value is None or peer is None:
        return None
    return {"title": title, "ours_ns": value, "peer_ns": peer[0], "peer": peer[1], "ratio": value / peer[0]}


def wanted(participant, quantity, is_smallest):
    """Title, our configuration and its peers, of each row that a group of figures gives."""
    if participant == "threads":
        return [(title, "hier", PEERS) for name, title in OPENMP_ROWS if name == quantity and (is_smallest or name == "barrier")]
    return [(title, ours, {kind}) for ours, title, kind in MPI_ROWS if quantity == "period"]


def rows_of(report):
    """The rows of one file: for two participants, and for the most that were measured."""
    participant, quantity = ("threads", "construct") if "omp" in report["format"] else ("ranks", "quantity")
    groups = report["groups"]
    counts = {group[participant] for group in groups}
    for count in sorted({min(counts), max(counts)} if counts else ()):
        for group in (group for group in groups if group[participant] == count):
            for title, ours, kinds in wanted(participant, group[quantity], count == min(counts)):
                yield row(f"{title}, {count} {participant}", group, ours, kinds)


def time_text(ns):
    """Three digits, in the unit that keeps the number below 10,000."""
    for scale, unit in ((1, "ns"), (1e3, "µs"), (1e6, "ms")):
        if ns < 1e4 * scale:
            return f"{ns / scale:.0f} {unit}"
    return f"{ns / 1e9:.0f} s"


def table(rows):
    lines = [f"{'':<36} {'hierbar':>10} {'best other':>12}  {'ratio':>7}"]
    for one in rows:
        lines.append(f"{one['title']:<36} {time_text(one['ours_ns']):>10} {time_text(one['peer_ns']):>12}  "
                     f"{one['ratio']:>7.3g}  ({one['peer']})")
    return "\n".join(lines)


def machine_text(report):
    host = report["host"]
    return f"{host['cpu']}, {host['topology']}" + (f", virtual ({host['virtual']})" if host["virtual"] else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="+")
    reports = []
    for name in parser.parse_args().files:
        try:
            with open(name, encoding="utf-8") as file:
                reports.append(json.load(file))
        except (OSError, ValueError) as error:
            print(f"summary.py: {name}: {error}", file=sys.stderr)
            return 2
    rows = [one for report in reports for one in rows_of(report) if one]
    print(machine_text(reports[0]))
    print(table(rows[:6]) if rows else "nothing was measured that can be compared")
    return 0


if __name__ == "__main__":
    sys.exit(main())
