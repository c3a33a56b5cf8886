#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes gcc_functions.txt: which functions GCC's library has, which version each has, since when.

    list_gcc_functions.py gcc-13.5.0/libgomp/libgomp.map ... gcc-17/libgomp.so.1 >gcc_functions.txt

The GCC of a map is the first number in its path. The oldest given one stands for itself and all
before it. Only names and versions are taken from the maps. A library stands in for the map of a
GCC whose sources cannot be had.
"""

import pathlib
import re
import subprocess
import sys

VERSION = re.compile(r"^(\w+\.[\d.]+) \{$")
NAME = re.compile(r"^\t(\w+);$")
EXPORT = re.compile(r" (\S+) (\w+)@@?(\w+\.[\d.]+)$", re.MULTILINE)


def read_map(path):
    """[(version, function)]"""
    entries, version = [], None
    for line in path.read_text(encoding="utf-8").splitlines():
        if found := VERSION.match(line):
            version = found[1]
        elif found := NAME.match(line):
            entries.append((version, found[1]))
    if not entries:
        sys.exit(f"{path}: no functions found")
    return entries


def read_library(path):
    """[(version, function)]"""
    symbols = subprocess.run(
        ["readelf", "--dyn-syms", "--wide", path], check=True, text=True, stdout=subprocess.PIPE
    ).stdout
    return [
        (version, function)
        for section, function, version in EXPORT.findall(symbols)
        if section not in ("UND", "ABS")
    ]


def read_functions(path):
    with path.open("rb") as file:
        is_library = file.read(4) == b"\x7fELF"
    return read_library(path) if is_library else read_map(path)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    maps = {}
    for path in map(pathlib.Path, sys.argv[1:]):
        number = re.search(r"\d+", str(path))
        if not number:
            sys.exit(f"{path}: no GCC version in this path")
        maps[int(number[0])] = read_functions(path)
    since = {}
    for gcc, entries in sorted(maps.items()):
        for entry in entries:
            since.setdefault(entry, gcc)
    print(
        "# Functions of GCC's libgomp: version, name, and the first GCC that has it, "
        "from the libraries of GCC " + ", ".join(map(str, sorted(maps))) + "."
    )
    print(f"# {min(maps)} means: that one or an earlier one. Written by list_gcc_functions.py.")
    # A map may name a function that the library never had; GCC has taken such names out later.
    for version, function in sorted(maps[max(maps)]):
        print(version, function, since[version, function])


if __name__ == "__main__":
    main()
