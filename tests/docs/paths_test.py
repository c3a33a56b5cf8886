#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""paths_test.py [ROOT]: whether the documents name files that exist, and whether the decisions keep
their form.

  1. Every path in a document that begins with a folder of the repository exists; `*` and
     `<version>` stand for any name. So does every target of a link, every file name that stands
     alone between backquotes, and every document of docs/ that a source file names.
  2. A decision has at most 40 lines of at most 100 columns, and its number is that of its name.
  3. The index of the decisions has each of them once.
"""

import os
import re
import sys
from pathlib import Path

ENDINGS = r"(?:cpp|hpp|h|c|py|sh|md|cmake|patch|js|in|txt)"
PATH = re.compile(r"(?<![\w./~$}-])"
                  r"(\.?[A-Za-z][\w.-]*(?:/[\w.*<>+-]+)+/?|\.?[a-z][\w-]*/(?![\w.*<]))")
FILE_NAME = re.compile(rf"`([A-Za-z0-9][\w.-]*\.{ENDINGS})`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
DECISION = re.compile(r"(\d{4})-[a-z0-9-]+\.md")
SOURCES = {".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".cmake", ".txt", ".js"}

# What documents name although it is not in the repository.
EXAMPLES = {"runtime/libomp/patches/23.1.0"}
OTHERS_FILES = {"mpi.h", "kmp.h", "kmp_barrier.cpp", "kmp_runtime.cpp", "kmp_tasking.cpp",
                "kmp_wait_release.h", "mpif.h"}


def is_ours(folder):
    return folder == ".ci" or not folder.startswith((".", "build", "__pycache__"))


def files_of(root):
    """All files below the root that can belong to the repository, as paths relative to it."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if is_ours(name)]
        for name in names:
            yield (Path(folder) / name).relative_to(root)


def exists(root, path):
    pattern = re.sub(r"<[^>]*>", "*", path).rstrip("/")
    return any(root.glob(pattern)) if "*" in pattern else (root / pattern).exists()


def paths_in(text, top_folders):
    for match in PATH.finditer(text):
        path = match.group(1).rstrip(".")
        if path.split("/")[0] in top_folders:
            yield path


def missing_in_document(root, document, files):
    top_folders = {path.parts[0] for path in files if len(path.parts) > 1}
    names = {path.name for path in files} | OTHERS_FILES
    text = (root / document).read_text(encoding="utf-8")
    for path in paths_in(LINK.sub("]", text), top_folders):
        if path not in EXAMPLES and not exists(root, path):
            yield f"{document}: there is no {path}"
    for target in LINK.findall(text):
        if "://" not in target and not (root / document).parent.joinpath(target).exists():
            yield f"{document}: there is no {target}"
    for name in FILE_NAME.findall(text):
        if name not in names:
            yield f"{document}: no file is called {name}"


def missing_documents(root, source):
    text = (root / source).read_text(encoding="utf-8", errors="replace")
    for path in re.findall(r"\bdocs/[\w./-]+\.md\b", text):
        if not (root / path).exists():
            yield f"{source}: there is no {path}"


def faults_of_decision(path):
    number = DECISION.fullmatch(path.name)
    if number is None:
        yield f"{path.name}: not called NNNN-title.md"
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    if len(lines) > 40:
        yield f"{path.name}: {len(lines)} lines, more than 40"
    if any(len(line) > 100 for line in lines):
        yield f"{path.name}: a line of more than 100 columns"
    if not lines or not lines[0].startswith(f"# {int(number.group(1))}. "):
        yield f"{path.name}: its title does not begin with its number"


def faults_of_decisions(folder):
    decisions = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    for path in decisions:
        yield from faults_of_decision(path)
    listed = LINK.findall((folder / "README.md").read_text(encoding="utf-8"))
    numbers = [path.name[:4] for path in decisions]
    for path in decisions:
        if listed.count(path.name) != 1:
            yield f"{path.name}: {listed.count(path.name)} times in the index"
        if numbers.count(path.name[:4]) != 1:
            yield f"{path.name}: another decision has its number"


def all_faults(root):
    files = set(files_of(root))
    documents = [path for path in files if path.suffix == ".md"
                 and (path.parts[0] == "docs" or path.name in ("README.md", "CONTRIBUTING.md"))]
    for document in sorted(documents):
        yield from missing_in_document(root, document, files)
    for source in sorted(path for path in files if path.suffix in SOURCES):
        if source.parts[:2] != ("tests", "docs"):  # whose examples have faults
            yield from missing_documents(root, source)
    yield from faults_of_decisions(root / "docs" / "decisions")


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    faults = list(all_faults(root))
    print("\n".join(faults) if faults else "ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
