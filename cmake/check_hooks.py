#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells which of the patches to libomp fit the sources of LLVM versions.

    check_hooks.py                               # all versions of cmake/llvm_versions.txt
    check_hooks.py 19.1.7                        # one of them; its sources are fetched
    check_hooks.py llvm-project-24.1.0.src.tar.xz   # an archive: LLVM's, or Debian's .orig.tar.xz
    check_hooks.py ~/llvm-project-24.1.0.src     # unpacked sources: a directory with openmp/
    check_hooks.py ~/llvm-project-24.1.0.src --write
    check_hooks.py 22.1.8 --renumber

runtime/libomp/patches has three kinds, which are applied in this order:

    llvm-fixes/*.patch            for LLVM's faults, but those of versions/<version>/left-out.txt
    versions/<version>/*.patch    what differs between versions
    hooks/*.patch                 the hooks, one set for all versions

Each hunk of the last two must find its lines again in the function that its header names; of
several such places it takes the nearest. When the header names none, there must be one place only.
patch, which knows nothing of functions, must take the same place. Of the first kind only those that
do not fit are reported.

A version without a directory of its own takes the one with the highest number below its own, if it
is built and if it is tried here. --write makes a directory for it, with what fits; it needs one
only if something does not. --renumber writes the hooks' line numbers anew, which are those of the
default version.

Exit status: 0 all patches fit, 1 some do not, 2 nothing could be checked.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOES_NOT_FIT = ": does not fit"
KNOWN = ROOT / "cmake/llvm_versions.txt"
VERSION = re.compile(r"LLVM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)")
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
            # LLVM's own patches begin above openmp/.
            files.append(FilePatch(name.removeprefix("openmp/"), preamble + [line]))
            preamble = []
        else:
            preamble.append(line)
    if hunk is None or not hunk.is_complete():
        raise CannotCheck(f"{path} is no whole patch")
    return files


def enclosing_function(lines, index):
    """What diff -p and git call the function of lines[index].

    That is the last line before it that begins at the margin with a name.
    """
    for line in reversed(lines[:index]):
        if re.match(r"[A-Za-z_$]", line):
            return line
    return ""


def name_of(function):
    """The name in a function's first line, else the line.

    Parameters change from version to version, and headers are cut off.
    """
    call = re.match(r"[^(]*?([\w:~]+)\s*\(", function)
    return call.group(1) if call else function[:60].strip()


def find_places(hunk, lines, start):
    """Returns the indices, not before start, at which the hunk's old lines are."""
    old = hunk.old()
    return [i for i in range(start, len(lines) - len(old) + 1) if lines[i : i + len(old)] == old]


def choose_place(hunk, places, expected, function_at):
    """Returns the index that the hunk's function means, or None, and why."""
    fitting = [i for i in places if name_of(function_at(i)) == name_of(hunk.function)]
    if fitting:
        return min(fitting, key=lambda i: abs(i - expected)), ""
    if not hunk.needs_function and len(places) == 1:  # nothing else that it could mean
        return places[0], ""
    if places:
        elsewhere = sorted({name_of(function_at(i)) for i in places})
        return None, f"its lines are only in {', '.join(elsewhere)}"
    return None, "its lines are not there"


def place_hunks(file, lines, report):
    """Applies the hunks to lines (those of the file) and makes their headers right.

    Drops those that do not fit.
    """
    num_hunks, fitting, end, shift, growth = len(file.hunks), [], 0, 0, 0
    before = list(lines)

    # A hunk's header names the function in the file as it was before the patch, of which earlier
    # hunks may have made two.
    def function_at(index):
        return enclosing_function(before, index - growth)

    for number, hunk in enumerate(file.hunks, 1):
        places, expected = find_places(hunk, lines, end), hunk.first - 1 + shift
        index, problem = choose_place(hunk, places, expected, function_at)
        function = name_of(hunk.function) or "in no function"
        where = f"{file.path}, hunk {number} of {num_hunks}, {function}"
        if index is None:
            report(False, f"{where}: {problem}", hunk)
            continue
        # patch takes the nearest place, and of two equally far the later one.
        taken = min(places, key=lambda i: (abs(i - expected), i < expected))
        moved = index - growth + (1 if hunk.num_old else 0) - hunk.first  # a new file begins at 0
        where = f"{where}: line {index - growth + 1} ({moved:+})"
        if taken != index:
            where += (
                f", but patch takes line {taken - growth + 1}; more lines of context would help"
            )
        report(taken == index, where, hunk)
        # Where the next ones are expected: as far off as this one.
        shift = index - (hunk.first - 1)
        hunk.first += moved
        hunk.new_first = index + 1
        if hunk.function:  # one that names none has no function of the same name in all versions
            hunk.function = function_at(index)[:80]
        lines[index : index + hunk.num_old] = hunk.new()
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
                old, new = f"{hunk.first},{hunk.num_old}", f"{hunk.new_first},{hunk.num_new}"
                print(f"@@ -{old} +{new} @@ {hunk.function}".rstrip(), file=out)
                print(*hunk.lines, sep="\n", file=out)


def known_versions():
    return [line.split()[0] for line in KNOWN.read_text().splitlines() if line[:1].isdigit()]


def version_of(openmp):
    """The version of unpacked sources, or "" where they do not tell."""
    told = openmp.parent / "cmake/Modules/LLVMVersion.cmake"
    return ".".join(VERSION.findall(told.read_text())) if told.exists() else ""


def unpack(archive, out):
    """Unpacks what is looked at of an archive of LLVM's; returns as find_sources() does."""
    out.mkdir()
    options = ["--strip-components=1", "--anchored", "--wildcards", "--no-wildcards-match-slash"]
    command = ["tar", "--extract", f"--file={archive}", f"--directory={out}", *options]
    done = subprocess.run([*command, "*/openmp", "*/cmake"], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise CannotCheck(f"{archive} is no archive with LLVM's sources: {done.stderr.strip()}")
    return out / "openmp", version_of(out / "openmp")


def find_sources(name, scratch):
    """Returns the openmp directory of unpacked sources, an archive or a fetched version, and the
    version."""
    given = pathlib.Path(name)
    for openmp in (given / "openmp", given):
        if (openmp / "runtime/src/kmp.h").exists():
            return openmp, version_of(openmp.resolve())
    if given.is_file():
        return unpack(given, scratch / given.name)
    if given.exists():
        raise CannotCheck(f"{name} has no openmp/runtime/src/kmp.h")
    stock = scratch / f"stock-{name}" if "/" not in name else scratch / "stock"
    fetch = [ROOT / "cmake/fetch_openmp.sh", "--version", name, "--out", stock]
    if subprocess.run([*fetch, "--state", scratch / "apt"]).returncode != 0:
        raise CannotCheck(
            f"'{name}' is no directory or archive with sources, and no version whose sources could"
            " be fetched"
        )
    return stock / "openmp", name


def find_version_dir(patches, version):
    """Returns the directory of what differs in a version: the highest that is not above it. As
    hierbar_version_patches() of FetchOpenMP.cmake does."""

    def numbers(text):
        return [int(part) for part in re.findall(r"\d+", text)]

    paths = [path for path in (patches / "versions").iterdir() if path.is_dir()]
    not_above = [p for p in paths if not version or numbers(p.name) <= numbers(version)]
    if not not_above:
        raise CannotCheck(f"{patches}/versions has no directory for LLVM {version} or before")
    found = max(not_above, key=lambda path: numbers(path.name))
    if found.name != version:
        print(f"LLVM {version or 'of an unknown version'} has no patches of its own; it takes")
        print(f"those of {found}")
    return found


class Sources:
    """The sources of one version, as the patches change them, and what is counted meanwhile."""

    def __init__(self, openmp):
        self.openmp, self.contents = openmp, {}
        self.num_hooks, self.num_fitting, self.unfit_fixes = 0, 0, []

    def lines_of(self, path):
        if path not in self.contents:
            source = self.openmp / path
            self.contents[path] = source.read_text().splitlines() if source.exists() else []
        return self.contents[path]

    def apply_fix(self, patch):
        """Applies a patch for LLVM, whole or not at all."""
        files, problems = read_patch(patch), []
        changed = {file.path: list(self.lines_of(file.path)) for file in files}
        for file in files:
            # git gives three lines of context, and names a function above one that begins in them.
            for hunk in file.hunks:
                hunk.needs_function = False
            place_hunks(
                file, changed[file.path], lambda fits, text, hunk: fits or problems.append(text)
            )
        if not problems:
            self.contents.update(changed)
            return
        self.unfit_fixes.append(patch.name)
        print(f"llvm-fixes/{patch.name} does not fit, so hooks behind it may not either")
        print(*("      " + problem for problem in problems), sep="\n")

    def report(self, fits, text, hunk):
        self.num_hooks += 1
        self.num_fitting += fits
        print(("ok    " if fits else "FAILS ") + text)
        if not fits:
            print(*("        " + line for line in hunk.lines), sep="\n")

    # Patches build on each other, so what one leaves behind is what the next one finds.
    def apply_hooks(self, patch):
        """Applies what fits of a patch of ours, and returns it."""
        print(f"{patch.parent.name}/{patch.name}")
        files = read_patch(patch)
        for file in files:
            place_hunks(file, self.lines_of(file.path), self.report)
        return [file for file in files if file.hunks]


def check(openmp, version, arguments):
    """Returns whether all patches fit; writes what the options ask for."""
    patches, sources = arguments.patches, Sources(openmp)
    version_dir = find_version_dir(patches, version)
    listed = version_dir / "left-out.txt"
    left_out = listed.read_text() if listed.exists() else ""
    for patch in sorted((patches / "llvm-fixes").glob("*.patch")):
        if patch.name not in left_out:
            sources.apply_fix(patch)
    own = {p.name: sources.apply_hooks(p) for p in sorted(version_dir.glob("*.patch"))}
    hooks = {p: sources.apply_hooks(p) for p in sorted((patches / "hooks").glob("*.patch"))}
    if not hooks:
        raise CannotCheck(f"{patches}/hooks has no *.patch")
    fits = sources.num_fitting == sources.num_hooks and not sources.unfit_fixes
    print(f"{sources.num_fitting} of {sources.num_hooks} hooks fit LLVM {version or openmp}")
    if arguments.write:
        if not version:
            raise CannotCheck(
                f"{openmp} does not tell its version, so there is no place to write to"
            )
        written = patches / "versions" / version
        written.mkdir(exist_ok=True)
        for name, files in own.items():
            write_patch(written / name, files)
        left_out += "".join(name + DOES_NOT_FIT + "\n" for name in sources.unfit_fixes)
        if left_out:
            (written / "left-out.txt").write_text(left_out)
    if arguments.renumber:
        if not fits:
            raise CannotCheck("the line numbers stay as they are, since not all hooks fit")
        for path, files in hooks.items():
            write_patch(path, files)
    return fits


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "sources", nargs="*", metavar="VERSION|SOURCES", help="what the patches are tried on"
    )
    parser.add_argument(
        "--patches",
        type=pathlib.Path,
        default=ROOT / "runtime/libomp/patches",
        metavar="DIR",
        help="default: runtime/libomp/patches",
    )
    parser.add_argument(
        "--write", action="store_true", help="make versions/<version> of what fits these sources"
    )
    parser.add_argument(
        "--renumber", action="store_true", help="write the hooks with these sources' line numbers"
    )
    arguments = parser.parse_args()
    if (arguments.write or arguments.renumber) and len(arguments.sources) != 1:
        parser.error("--write and --renumber need one version")
    with tempfile.TemporaryDirectory() as scratch:
        found = [
            find_sources(name, pathlib.Path(scratch))
            for name in arguments.sources or known_versions()
        ]
        fits = [check(openmp, version, arguments) for openmp, version in found]
    return 0 if all(fits) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CannotCheck as error:
        print(f"hierbar: error: {error}", file=sys.stderr)
        sys.exit(2)
