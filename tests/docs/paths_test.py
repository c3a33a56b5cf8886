#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""paths_test.py [ROOT]: whether the documents name files that exist, and whether the pages of the
design keep their form.

  1. Every path in a document that begins with a folder of the repository exists; `*` and
     `<version>` stand for any name. So does every target of a link, every file name that stands
     alone between backquotes, and every document of docs/ that a source file names.
  2. So does every choice of docs/design that a document or a source names by its number, and every
     heading that a link leads to.
  3. A choice of docs/design has a number of its own, an anchor, a heading, and a row in its page's
     table.
"""

import os
import re
import sys
from pathlib import Path

ENDINGS = r"(?:cpp|hpp|h|c|py|sh|md|cmake|patch|js|in|txt)"
PATH = re.compile(
    r"(?<![\w./~$}-])" r"(\.?[A-Za-z][\w.-]*(?:/[\w.*<>+-]+)+/?|\.?[a-z][\w-]*/(?![\w.*<]))"
)
FILE_NAME = re.compile(rf"`([A-Za-z0-9][\w.-]*\.{ENDINGS})`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
SOURCES = {".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".cmake", ".txt", ".js"}

# What documents name although it is not in the repository.
EXAMPLES = {"runtime/libomp/patches/versions/24.1.0"}
OTHERS_FILES = {
    "mpi.h",
    "kmp.h",
    "kmp_barrier.cpp",
    "kmp_gsupport.cpp",
    "kmp_runtime.cpp",
    "kmp_tasking.cpp",
    "kmp_wait_release.h",
    "mpif.h",
}


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


def anchors_of(path):
    return set(re.findall(r'<a id="([\w-]+)"></a>', path.read_text(encoding="utf-8")))


def missing_anchors(root, file):
    """Choices of docs/design that a file names and that are not there."""
    text = (root / file).read_text(encoding="utf-8", errors="replace")
    named = [
        (root / path, anchor)
        for path, anchor in re.findall(r"\b(docs/[\w./-]+\.md)#(d\d{4})\b", text)
    ]
    if file.suffix == ".md":
        named += [
            ((root / file).parent / target if target else root / file, anchor)
            for target, anchor in re.findall(r"\]\(([^)#\s]*)#(d\d{4})\)", text)
        ]
    for path, anchor in named:
        if path.exists() and anchor not in anchors_of(path):
            yield f"{file}: {path.name} has no #{anchor}"


def headings_of(path):
    """The anchors that GitHub makes of a document's headings."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def missing_headings(root, document):
    """Headings that a link names and that are not there."""
    text = (root / document).read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text):
        path = (root / document).parent / target if target else root / document
        is_ours = "://" not in target and path.exists() and not re.fullmatch(r"d\d{4}", anchor)
        if is_ours and anchor not in headings_of(path) | anchors_of(path):
            yield f"{document}: {path.name} has no heading #{anchor}"


def faults_of_design(folder):
    """Each choice has a number of its own, an anchor, a heading, and a row in its page's table."""
    seen = {}
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        anchors = re.findall(r'<a id="d(\d{4})"></a>', text)
        headings = re.findall(r"^## (\d{4}) \S", text, re.MULTILINE)
        rows = re.findall(r"^\| \[(\d{4})\]\(#d\1\) \| \S", text, re.MULTILINE)
        for number in sorted(set(anchors + headings + rows)):
            for what, found in (("anchors", anchors), ("headings", headings), ("rows", rows)):
                if found.count(number) != 1:
                    yield f"{path.name}: {number} has {found.count(number)} {what}"
            if number in seen:
                yield f"{path.name}: {number} is also in {seen[number]}"
            seen[number] = path.name


def all_faults(root):
    files = set(files_of(root))
    documents = [
        path
        for path in files
        if path.suffix == ".md" and path.name != "CHANGELOG.md"  # which names what was there once
    ]
    for document in sorted(documents):
        yield from missing_in_document(root, document, files)
    for source in sorted(path for path in files if path.suffix in SOURCES):
        if source.parts[:2] != ("tests", "docs"):  # whose examples have faults
            yield from missing_documents(root, source)
            yield from missing_anchors(root, source)
    for document in sorted(documents):
        yield from missing_anchors(root, document)
        yield from missing_headings(root, document)
    yield from faults_of_design(root / "docs" / "design")


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    faults = list(all_faults(root))
    print("\n".join(faults) if faults else "ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
