#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pages_test.py CLASS [PROGRAM...]: whether pages agree with the sources and programs that they are
about.

  DoctorCodes          docs/guide/doctor.md has the codes of `hierbar doctor`, all of them and no
                       others, and its help has those of the findings
  Porting              docs/contribute/porting.md names every file of a product that knows an
                       architecture
  Listings             docs/reference/api.md shows tests/examples as they are compiled
  Variables HIERBAR    the list of variables is complete, and docs/reference/variables.md up to date
  Words HIERBAR        the options of all commands are those of docs/words.md
  BenchWords PROGRAM...    those of the benchmarks too
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCTS = ("runtime", "mpi", "ompt-tools", "bench")
SOURCES = (".c", ".cpp", ".h", ".hpp")
PROGRAMS = sys.argv[2:]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout


def sources_of(*folders):
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in SOURCES:
                yield path


class DoctorCodes(unittest.TestCase):
    # How a source begins a Diagnosis or an Inactivity, or passes on what `hierbar check` finds.
    CODE = re.compile(r'(?:\badd\(|(?:return |Inactivity|push_back\(\s*)\{)\s*"([a-z-]+)",')
    PASSED_ON = re.compile(r"finding\.kind == FindingKind::k(\w+)")

    def codes_of_sources(self):
        codes = set()
        for path in (ROOT / "runtime/cli/doctor").glob("*diagnosis.cpp"):
            text = path.read_text(encoding="utf-8")
            codes.update(self.CODE.findall(text))
            for kind in self.PASSED_ON.findall(text):
                codes.add("-".join(re.findall("[A-Z][a-z]+", kind)).lower())
        return codes

    def codes_of_page(self, first_section, section_behind):
        page = text_of("docs/guide/doctor.md")
        tables = page.split(f"\n## {first_section}\n")[1].split(f"\n## {section_behind}\n")[0]
        return set(re.findall(r"^\| `([a-z-]+)` \|", tables, re.MULTILINE))

    def test_the_page_has_the_codes_of_the_sources(self):
        self.assertEqual(self.codes_of_sources(), self.codes_of_page("Findings", "JSON"))

    def test_the_help_has_the_codes_of_the_findings(self):
        text = text_of("runtime/cli/doctor/doctor_command.cpp")
        words = set(re.findall(r"[a-z-]+", text.partition("kDoctorHelp")[2].partition(";\n")[0]))
        self.assertEqual(self.codes_of_page("Findings", "Not active") - words, set())


class Porting(unittest.TestCase):
    # As the compiler and libomp name architectures, and what only one of them has.
    ARCHITECTURE = re.compile(r"__(x86_64|i386|aarch64|SSE|riscv\w*|powerpc64)__|\bKMP_ARCH_\w+")

    def test_the_page_has_every_file_that_knows_an_architecture(self):
        page = text_of("docs/contribute/porting.md")
        rows = "".join(line for line in page.splitlines() if line.startswith("| `"))
        named = set(re.findall(r"`((?:%s)/[\w/.-]+)`" % "|".join(PRODUCTS), rows))
        know = {
            str(path.relative_to(ROOT))
            for path in sources_of(*PRODUCTS)
            if self.ARCHITECTURE.search(path.read_text(encoding="utf-8"))
        }
        self.assertEqual(know, named)


class Listings(unittest.TestCase):
    """Between `<!-- FILE: begin -->` and `<!-- FILE: end -->` the page has the file without its
    licence, in a fence."""

    def test_the_page_shows_what_is_compiled_and_run(self):
        page = text_of("docs/reference/api.md")
        for name in ("threads.c", "allreduce.c", "processes.cpp"):
            with self.subTest(name):
                name = f"tests/examples/{name}"
                _, _, code = text_of(name).partition("\n\n")  # behind the comment at the top
                found = re.search(
                    rf"<!-- {name}: begin -->\n\n```\w+\n(.*?)```\n\n<!-- {name}: end -->",
                    page,
                    re.DOTALL,
                )
                self.assertIsNotNone(found, name)
                self.assertTrue(code)
                self.assertEqual(found[1], code)


class Variables(unittest.TestCase):
    """Each HIERBAR_ variable that a source of the product names as a text is in the list
    (runtime/base/variables.hpp), and each one in the list is read by some source or script."""

    LIST = ROOT / "runtime/base/variables.hpp"
    BUILD = (
        "bootstrap",
        ".ci/long",
        "cmake/source_archives.sh",
        "tests/libomp/gcc_suite/fetch_gcc_tests.sh",
    )
    NAME = re.compile(r'"(HIERBAR_[A-Z][A-Z_]*)"')  # alone between quotes: no macros and labels

    def setUp(self):
        entries = json.loads(output_of(PROGRAMS[0], "variables", "--json"))["variables"]
        self.listed = {entry["name"]: entry for entry in entries}
        self.named = {
            name
            for path in sources_of("runtime", "mpi", "ompt-tools")
            if path != self.LIST and path.suffix != ".c"
            for name in self.NAME.findall(path.read_text(encoding="utf-8"))
        }

    def test_every_variable_that_is_read_is_listed(self):
        self.assertEqual(self.named - set(self.listed), set())

    def test_every_listed_variable_is_read(self):
        scripts = "".join(text_of(name) for name in self.BUILD)
        build = {name for name in self.listed if name in scripts}
        self.assertEqual(set(self.listed) - self.named - build - {"KMP_BARRIER"}, set())

    def test_every_page_names_its_variables(self):
        for name, entry in self.listed.items():
            self.assertIn(name, text_of(entry["page"]), entry["page"])

    def test_the_page_of_the_reference_is_up_to_date(self):
        self.assertEqual(
            text_of("docs/reference/variables.md"),
            output_of(PROGRAMS[0], "variables", "--markdown"),
            "hierbar variables --markdown writes docs/reference/variables.md",
        )


class Options:
    """Of commands, and what a table of docs/words.md has of them. An option that is not in the
    table, a command that its row does not name, a command that a row names without need, and help
    that begins with other words than the row's are problems."""

    def __init__(self, section):
        self.rows = {}  # by each name of an option: all its names, the words, and the commands
        self.used = {}
        self.problems = []
        table = text_of("docs/words.md").split(f"\n## {section}\n")[1].split("\n## ")[0]
        for line in table.splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            names = re.findall(r"`(--?[a-z0-9-]+)`", cells[0])
            if len(cells) != 3 or not names:
                continue
            for name in names:
                if name in self.rows:
                    self.problems.append(f"{name} stands twice")
                self.rows[name] = names, cells[1], set(cells[2].split(", "))

    def add(self, command, page):
        """The options of a page of help."""
        for names, descriptions in options_of(page):
            row = self.rows.get(names[-1])
            if row is None or not set(names) <= set(row[0]):
                self.problems.append(f"{command}: {', '.join(names)} is not in the table")
                continue
            self.used.setdefault(names[-1], set()).add(command)
            if not any(one.startswith(row[1]) for one in descriptions):
                self.problems.append(
                    f"{command}: the help of {names[-1]} does not begin with '{row[1]}'"
                )

    def all_problems(self):
        for name, (names, _, named) in self.rows.items():
            used = self.used.get(name, set())
            if name == names[-1] and named != used:
                self.problems.append(f"{name}: the table has {sorted(named)}, not {sorted(used)}")
        return self.problems


def options_of(page):
    """The names of each option, and where its description may begin: on its line or on the next."""
    parts = page.split("\n\n")
    lines = next(part for part in parts if part.startswith("Options:")).split("\n")
    column = next(line.index("Print this") for line in lines if "--help" in line)
    for line, after in zip(lines, lines[1:] + [""]):
        head = re.match(r"  (-\S+)", line)
        if head and "--help" not in line:
            yield head.group(1).split(","), (line[column:], after.strip())


def subcommands(page):
    listed = page.partition("Subcommands:")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)


class Words(unittest.TestCase):
    def test_options_are_those_of_the_table(self):
        options = Options("Options")
        for command in subcommands(output_of(PROGRAMS[0], "--help")):
            options.add(command, output_of(PROGRAMS[0], command, "--help"))
        self.assertEqual(options.all_problems(), [])


class BenchWords(unittest.TestCase):
    def test_options_are_those_of_the_table(self):
        options = Options("Options of the benchmarks")
        for program in PROGRAMS:
            page = output_of(program, "--help")
            commands = subcommands(page)
            pages = [output_of(program, command, "--help") for command in commands] or [page]
            for page in pages:
                options.add(pathlib.Path(program).name, page)
        self.assertEqual(options.all_problems(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:2])
