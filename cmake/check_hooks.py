#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells which hooks of the patch to libomp fit the sources of another LLVM version.

    check_hooks.py 19.1.7                          # a version of cmake/llvm_versions.txt; its sources are fetched
    check_hooks.py ~/llvm-project-23.1.0.src       # unpacked sources: a directory with openmp/
    check_hooks.py SOURCES PATCH_DIR --write runtime/libomp/patches/23.1.0

Each hunk must find its lines again in the function that its header names; of several such places it takes the nearest. When the
header names none (make patches with diff -p), there must be one place only. With --write the patch is written anew, for these
sources, with the hunks that fit.

The hooks are for sources to which the patches for LLVM have been applied that the patch directory's upstream.txt names. Those that
fit are applied first, and are no hooks. The others are reported, and --write leaves them out of the new upstream.txt.

Exit status: 0 all hooks and patches fit, 1 some do not, 2 nothing could be checked.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOES_NOT_FIT = ": does not fit"
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@ ?(.*)$")


class CannotCheck(Exception):
    """Nothing can be said; the message says why."""


class Hunk:
    """Consecutive lines of a patch, and where they belong."""

    def __init__(self, header):
        self.first, self.function = int(header.group(1)), header.group(4)
        self.num_old, self.num_new = (int(count or 1) for count in header.group(2, 3))
        self.lines = []
        self.needs_function = bool(self.function)

    def is_complete(self):
        return len(self.old()) == self.num_old and len(self.new()) == self.num_new

    def old(self):
        return [line[1:] for line in self.lines if line[0] != "+"]

    def new(self):
        return [line[1:] for line in self.lines if line[0] != "-"]


class FilePatch:
    """The hunks for one file, and the lines of the patch that come before them."""

    def __init__(self, path, preamble):
        self.path, self.preamble, self.hunks = path, preamble, []


def read_patch(path):
    """Returns the FilePatches of one patch file."""
    files, preamble, hunk = [], [], None
    for line in path.read_text().splitlines():
        header = HUNK.match(line)
        if hunk and not hunk.is_complete():
            hunk.lines.append(line)
        elif header and files:
            hunk = Hunk(header)
            files[-1].hunks.append(hunk)
        elif line.startswith("+++ "):
            name = line[4:].split("\t")[0].split("/", 1)[1]
            files.append(FilePatch(name.removeprefix("openmp/"), preamble + [line]))  # LLVM's own patches begin above openmp/
            preamble = []
        else:
            preamble.append(line)
    if hunk is None or not hunk.is_complete():
        raise CannotCheck(f"{path} is no whole patch")
    return files


def enclosing_function(lines, index):
    """What diff -p and git call the function of lines[index]: the last line before it that begins at the margin with a name."""
    for line in reversed(lines[:index]):
        if re.match(r"[A-Za-z_$]", line):
            return line
    return ""


def name_of(function):
    """The name in a function's first line, else the line: parameters change from version to version, and headers are cut off."""
    call = re.match(r"[^(]*?([\w:~]+)\s*\(", function)
    return call.group(1) if call else function[:60].strip()


def find_place(hunk, lines, start, shift, function_at):
    """Returns the index, not before start, at which the hunk's old lines are, or None, and why."""
    old = hunk.old()
    found = [i for i in range(start, len(lines) - len(old) + 1) if lines[i:i + len(old)] == old]
    fitting = [i for i in found if name_of(function_at(i)) == name_of(hunk.function)]
    if fitting:
        return min(fitting, key=lambda i: abs(i - (hunk.first - 1 + shift))), ""
    if not hunk.needs_function and len(found) == 1:  # nothing else that it could mean
        return found[0], ""
    if found:
        elsewhere = sorted({name_of(function_at(i)) for i in found})
        return None, f"its lines are only in {', '.join(elsewhere)}"
    return None, "its lines are not there"


def place_hunks(file, lines, report):
    """Applies the hunks to lines (those of the file) and makes their headers right; drops those that do not fit."""
    num_hunks, fitting, end, shift, growth = len(file.hunks), [], 0, 0, 0
    before = list(lines)

    # A hunk's header names the function in the file as it was before the patch, of which earlier hunks may have made two.
    def function_at(index):
        return enclosing_function(before, index - growth)

    for number, hunk in enumerate(file.hunks, 1):
        index, problem = find_place(hunk, lines, end, shift, function_at)
        where = f"{file.path}, hunk {number} of {num_hunks}, {name_of(hunk.function) or 'in no function'}"
        if index is None:
            report(False, f"{where}: {problem}", hunk)
            continue
        moved = index - growth + (1 if hunk.num_old else 0) - hunk.first  # a new file begins at 0
        report(True, f"{where}: line {index - growth + 1} ({moved:+})", hunk)
        # Where the next ones are expected: as far off as this one.
        shift = index - (hunk.first - 1)
        hunk.first += moved
        hunk.new_first, hunk.function = index + 1, function_at(index)[:80]
        lines[index:index + hunk.num_old] = hunk.new()
        end = index + hunk.num_new
        growth += hunk.num_new - hunk.num_old
        shift += hunk.num_new - hunk.num_old
        fitting.append(hunk)
    file.hunks = fitting


def write_patch(path, files):
    with path.open("w") as out:
        for file in files:
            print(*file.preamble, sep="\n", file=out)
            for hunk in file.hunks:
                print(f"@@ -{hunk.first},{hunk.num_old} +{hunk.new_first},{hunk.num_new} @@ {hunk.function}".rstrip(),
                      *hunk.lines, sep="\n", file=out)


def newest_patches():
    versions = [path for path in (ROOT / "runtime/libomp/patches").iterdir() if path.is_dir()]
    return max(versions, key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)])


def find_sources(name, scratch):
    """Returns the openmp directory of unpacked sources or of a version, fetched."""
    given = pathlib.Path(name)
    for openmp in (given / "openmp", given):
        if (openmp / "runtime/src/kmp.h").exists():
            return openmp
    if given.exists():
        raise CannotCheck(f"{name} has no openmp/runtime/src/kmp.h")
    fetched = subprocess.run([ROOT / "cmake/fetch_openmp.sh", "--version", name, "--out", scratch / "stock",
                              "--state", scratch / "apt"])
    if fetched.returncode != 0:
        raise CannotCheck(f"'{name}' is no directory with sources, and no version whose sources could be fetched")
    return scratch / "stock/openmp"


def read_source(openmp, path):
    source = openmp / path
    return source.read_text().splitlines() if source.exists() else []


def apply_upstream(openmp, patch_dir, upstream_dir, contents):
    """Applies the patches of upstream.txt to contents. Returns its lines, with those that do not fit as comments."""
    listed = patch_dir / "upstream.txt"
    result = []
    for name in listed.read_text().splitlines() if listed.exists() else []:
        if name.startswith("#") or not name:
            result.append(name)
            continue
        problems = []
        files = read_patch(upstream_dir / name)
        changed = {file.path: list(contents.get(file.path) or read_source(openmp, file.path)) for file in files}
        for file in files:
            for hunk in file.hunks:
                hunk.needs_function = False  # git gives three lines of context, and names a function above one that begins in them
            place_hunks(file, changed[file.path], lambda fits, text, hunk: fits or problems.append(text))
        if problems:
            print(f"upstream/{name} does not fit, so hooks behind it may not either", *problems, sep="\n      ")
            result.append(f"# {name}{DOES_NOT_FIT}")
        else:
            contents.update(changed)
            result.append(name)
    return result


def check(openmp, patch_dir, upstream_dir, write_dir):
    """Returns how many hooks there are, how many fit, and how many patches for LLVM do not."""
    patches = sorted(patch_dir.glob("*.patch"))
    if not patches:
        raise CannotCheck(f"{patch_dir} has no *.patch")
    contents, counts = {}, [0, 0, 0]
    upstream = apply_upstream(openmp, patch_dir, upstream_dir, contents)
    counts[2] = sum(line.endswith(DOES_NOT_FIT) for line in upstream)
    if write_dir:
        write_dir.mkdir(parents=True, exist_ok=True)
        (write_dir / "upstream.txt").write_text("".join(line + "\n" for line in upstream))

    def report(fits, text, hunk):
        counts[0] += 1
        counts[1] += fits
        print(("ok    " if fits else "FAILS ") + text)
        if not fits:
            print(*("        " + line for line in hunk.lines), sep="\n")

    # Patches build on each other, so what one leaves behind is what the next one finds.
    for patch in patches:
        print(patch.name)
        files = read_patch(patch)
        for file in files:
            if file.path not in contents:
                contents[file.path] = read_source(openmp, file.path)
            place_hunks(file, contents[file.path], report)
        if write_dir:
            write_patch(write_dir / patch.name, [file for file in files if file.hunks])
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", metavar="VERSION|SOURCES", help="what the hooks are tried on")
    parser.add_argument("patch_dir", nargs="?", type=pathlib.Path, help="default: the newest of runtime/libomp/patches")
    parser.add_argument("--upstream", type=pathlib.Path, default=ROOT / "runtime/libomp/upstream", metavar="DIR",
                        help="where the patches of upstream.txt are; default: runtime/libomp/upstream")
    parser.add_argument("--write", type=pathlib.Path, metavar="DIR", help="where to write the patch for these sources")
    arguments = parser.parse_args()
    patch_dir = arguments.patch_dir or newest_patches()
    with tempfile.TemporaryDirectory() as scratch:
        openmp = find_sources(arguments.sources, pathlib.Path(scratch))
        num_hooks, num_fitting, num_unfit = check(openmp, patch_dir, arguments.upstream, arguments.write)
    print(f"{num_fitting} of {num_hooks} hooks of {patch_dir} fit {arguments.sources}")
    return 0 if num_fitting == num_hooks and num_unfit == 0 else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CannotCheck as error:
        print(f"hierbar: error: {error}", file=sys.stderr)
        sys.exit(2)
