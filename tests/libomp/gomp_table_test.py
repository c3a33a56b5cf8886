#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the table of runtime/libomp/gomp/GOMP.md with GCC's functions and with what libraries
export.

    gomp_table_test.py --table runtime/libomp/gomp/GOMP.md \\
        --functions runtime/libomp/gomp/gcc_functions.txt --library build/release/lib/libomp.so --system /usr/lib/.../libgomp.so.1

The table must have the functions of the list, no others. 'all' in it stands for all that the list
has of the row's version. Our library must have exactly the functions that the table does not mark
with 'no'. The system's library must have none that the table lacks, and must have all of those
versions that it has at all; what it does not have are later versions of GCC's.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"^\| `(\w+\.[\w.]+)` \| (\w+) \| (.*) \|$")
STATES = {"works", "libomp", "host", "refused", "no"}
VERSION = re.compile(r"^(GOMP|GOMP_PLUGIN|OMP|OACC|GOACC)_[0-9.]+$")
# libomp's own: GCC has them in another version.
NOT_OF_GCC = {
    (name + ending, "OMP_6.0")
    for name in ("omp_get_uid_from_device", "omp_get_device_from_uid")
    for ending in ("", "_")
}


def read_list(path):
    """{(function, version)}"""
    rows = [
        line.split()
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    return {(function, version) for version, function, _ in rows}


def read_table(path, listed):
    """{(function, version): state}"""
    table = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = ROW.match(line)
        if not row:
            continue
        version, state, functions = row.groups()
        if state not in STATES:
            sys.exit(
                f"{path}: state '{state}' of {version} is not one of {', '.join(sorted(STATES))}"
            )
        for function in (
            functions.split(", ")
            if functions != "all"
            else [name for name, of in listed if of == version]
        ):
            if (function, version) in table:
                sys.exit(f"{path}: {function} of {version} is there twice")
            table[function, version] = state
    return table


def read_exports(library):
    """{(function, version)}"""
    lines = subprocess.run(
        ["readelf", "--dyn-syms", "--wide", library], check=True, text=True, stdout=subprocess.PIPE
    ).stdout.splitlines()
    exports = set()
    for fields in map(str.split, lines):
        if len(fields) < 8 or fields[6] in ("UND", "ABS") or "@" not in fields[7]:
            continue
        function, version = re.split("@+", fields[7])
        if VERSION.match(version) and (function, version) not in NOT_OF_GCC:
            exports.add((function, version))
    return exports


def list_problems(what, functions):
    return [f"{what}: {function} of {version}" for function, version in sorted(functions)]


def find_problems(table, listed, ours, systems):
    provided = {key for key, state in table.items() if state != "no"}
    problems = list_problems(
        "in the list of GCC's functions, but not in the table", listed - set(table)
    )
    problems += list_problems(
        "in the table, but not in the list of GCC's functions", set(table) - listed
    )
    problems += list_problems("in the table, but libomp.so has it not", provided - ours)
    problems += list_problems(
        "libomp.so has it, but the table has it not, or as 'no'", ours - provided
    )
    if systems:
        versions = {version for _, version in systems}
        known = {(function, version) for function, version in table if version in versions}
        problems += list_problems(
            "the system's library has it, but the table has it not", systems - set(table)
        )
        problems += list_problems(
            "in the table, but the system's library has it not", known - systems
        )
    return problems


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument(
        "--functions", type=pathlib.Path, required=True, help="what list_gcc_functions.py wrote"
    )
    parser.add_argument("--library", dest="ours", type=pathlib.Path, required=True)
    parser.add_argument("--system", type=pathlib.Path, help="GCC's libgomp.so.1, if there is one")
    arguments = parser.parse_args()
    listed = read_list(arguments.functions)
    table = read_table(arguments.table, listed)
    ours = read_exports(arguments.ours)
    systems = read_exports(arguments.system) if arguments.system else set()
    if len(table) < 300 or len(ours) < 300:
        sys.exit(f"only {len(table)} functions in the table and {len(ours)} in {arguments.ours}")
    if arguments.system is None:
        print("there is no libgomp.so.1 of GCC's: compared with our library only")
    problems = find_problems(table, listed, ours, systems)
    print(
        "\n".join(problems)
        or f"{len(table)} functions; {len(ours)} in libomp.so, {len(systems)} in GCC's library"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
