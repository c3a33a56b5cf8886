#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what the programs in a directory say of their build and their tests, and writes CMake for it.

    read_tests.py programs --output BASE --variables trees lines ...

BASE-programs.cmake has a call of omp_program() for each build, BASE-tests.cmake one of omp_test()
for each test. A program says it in comments, of C++ or of Fortran. A line that is indented by four
or more goes on with the one before.

    // BUILD: clang
    // BUILD: gcc -Wno-maybe-uninitialized
    // TEST: padded_slots packed_slots
    //   CHECK: --counter fast>=1000
    // TEST trees (gcc): padded_slots
    //   ENV: $trees KMP_BLOCKTIME=0

BUILD [as NAME]: COMPILER [FLAG...]   clang and gcc have OpenMP, plain is Clang without, gfortran.
                 The program is called as its file, the second one of a file <file>_gcc, unless
                 NAME says otherwise.
LIBRARY: NAME    each build of this file needs that library of the same directory
NEEDS: NAME      nothing of this file is there unless the CMake variable is true
BY: COMPILER     whose build tests are of that name no compiler; else of all builds
NAME: NAME       the first part of the names of tests, in place of the program's
ARGS, ENV, CHECK as below, for all tests of the file: ENV and CHECK come before the test's own
TEST [SETTING] [(COMPILER)]: CASE...  tests <program>.<case>[.<setting>] of each build, or of those
                 by one compiler. The case is the program's argument.
  ENV:           variables, NAME=value, or NAME to have it removed
  CHECK:         options of run_omp_test.py
  ARGS:          the program's arguments, in place of the case; {} is the case, - is none
  NAME:          the test's whole name
  RUN:           alone: nothing runs beside it. timed: it judges time (hierbar_judges_time()).
                 llvm>=22: not with libraries of an older LLVM. timeout=600, label=stress
  EACH: VALUE... a test for each value, which stands for {} in the case, the setting, ENV and CHECK

$name is a CMake variable, one of those that --variables lists.
"""

import argparse
import dataclasses
import pathlib
import re
import shlex
import sys

DIRECTIVE = re.compile(
    r"^(?:BUILD(?: as (?P<as>[\w.]+))?|LIBRARY|NEEDS|BY|NAME|ARGS|ENV|CHECK|"
    r"TEST(?: (?P<setting>[\w{}.]+))?(?: \((?P<by>\w+)\))?):(?: |$)(?P<text>.*)"
)
OPTION = re.compile(r"^  (?P<key>ENV|CHECK|ARGS|NAME|RUN|EACH):(?: |$)(?P<text>.*)")
COMMENT = re.compile(r"^(?://|!) ?(?P<text>.*)$")
VARIABLE = re.compile(r"\$([A-Za-z_]+)")
# What a formatter makes of a line whose comment above was too long.
SWALLOWED = re.compile(r"\S (?:BUILD|TEST)(?: \w+)?(?: \(\w+\))?:(?: |$)")
COMPILERS = ("clang", "gcc", "plain", "gfortran")


class BadTest(Exception):
    """A comment cannot be understood; the message says where and why."""


@dataclasses.dataclass
class Build:
    name: str
    compiler: str
    flags: list


@dataclasses.dataclass
class Test:
    cases: list
    setting: str
    by: str
    options: dict


@dataclasses.dataclass
class Program:
    source: str
    builds: list = dataclasses.field(default_factory=list)
    libraries: list = dataclasses.field(default_factory=list)
    needs: list = dataclasses.field(default_factory=list)
    by: str = ""
    name: str = ""
    common: dict = dataclasses.field(default_factory=dict)
    tests: list = dataclasses.field(default_factory=list)


def logical_lines(text):
    """The comment lines of a text, each with those that go on with it."""
    lines = []
    for line in text.splitlines():
        comment = COMMENT.match(line)
        if not comment:
            lines.append("")
        elif comment["text"].startswith("    ") and lines and lines[-1]:
            lines[-1] += " " + comment["text"].strip()
        else:
            lines.append(comment["text"])
    return lines


def read_program(source, text):
    """Returns the Program, or None if the file says nothing."""
    program = Program(source)
    open_test = None
    for line in logical_lines(text):
        directive, option = DIRECTIVE.match(line), OPTION.match(line)
        if option:
            if open_test is None:
                raise BadTest(f"{source}: '{line.strip()}' belongs to no TEST")
            if option["key"] in open_test.options:
                raise BadTest(f"{source}: two {option['key']} of one TEST: {line.strip()}")
            open_test.options[option["key"]] = shlex.split(option["text"])
            continue
        open_test = None
        if not directive:
            if SWALLOWED.search(line):
                raise BadTest(
                    f"{source}: '{line}' has a BUILD or TEST that does not begin the line"
                )
            continue
        words, kind = shlex.split(directive["text"]), re.match(r"[A-Z]+", line)[0]
        if not words:
            raise BadTest(f"{source}: {kind} says nothing")
        if kind == "BUILD":
            add_build(program, directive["as"], words)
        elif kind == "TEST":
            by = directive["by"] or program.by
            open_test = Test(words, directive["setting"] or "", by, {})
            program.tests.append(open_test)
        elif kind == "NAME":
            program.name = words[0]
        elif kind == "BY":
            program.by = words[0]
        elif kind in ("ARGS", "ENV", "CHECK"):
            program.common[kind] = words
        else:
            (program.libraries if kind == "LIBRARY" else program.needs).extend(words)
    if not program.builds and not program.tests:
        return None
    if not program.builds:
        raise BadTest(f"{source}: it has tests and no BUILD")
    check_compilers(program)
    return program


def add_build(program, name, words):
    compiler, flags = words[0], words[1:]
    if compiler not in COMPILERS:
        raise BadTest(
            f"{program.source}: BUILD by '{compiler}': must be one of {', '.join(COMPILERS)}"
        )
    stem = pathlib.Path(program.source).stem
    if not name:
        name = f"{stem}_{compiler}" if program.builds else stem
    program.builds.append(Build(name, compiler, flags))


def check_compilers(program):
    compilers = {build.compiler for build in program.builds}
    for test in program.tests:
        if test.by and test.by not in compilers:
            raise BadTest(f"{program.source}: TEST ({test.by}), but no BUILD by it")


class Writer:
    """CMake of a program's builds and tests."""

    def __init__(self, variables):
        self.variables = variables

    def quote(self, program, word):
        """One argument for CMake, or where the word is a variable, what that has."""

        def checked(found):
            if found[1] not in self.variables:
                raise BadTest(
                    f"{program.source}: ${found[1]}: must be one of {', '.join(self.variables)}"
                )
            return "\0{" + found[1] + "}"

        replaced = VARIABLE.sub(checked, word)
        if re.fullmatch(r"\0\{\w+\}", replaced):
            return replaced.replace("\0", "$")
        for special in '\\"$':
            replaced = replaced.replace(special, "\\" + special)
        return '"' + replaced.replace("\0", "$") + '"'

    def words(self, program, keyword, words):
        return [keyword, *(self.quote(program, word) for word in words)] if words else []

    def guarded(self, program, build, lines):
        """Lines for where the program can be built."""
        needs = program.needs + ([] if build.compiler == "plain" else [build.compiler])
        if lines:
            yield f"if({' AND '.join(needs)})" if needs else "if(TRUE)"
            yield from ("  " + line for line in lines)
            yield "endif()"

    def builds(self, program):
        for build in program.builds:
            call = [build.name, build.compiler, program.source]
            call += self.words(program, "FLAGS", build.flags)
            call += self.words(program, "LIBRARIES", program.libraries)
            yield from self.guarded(program, build, [f"omp_program({' '.join(call)})"])

    def tests(self, program):
        for test in program.tests:
            for build in program.builds:
                if test.by in ("", build.compiler):
                    yield from self.guarded(program, build, list(self.of(program, build, test)))

    def of(self, program, build, test):
        """The calls for one TEST of one build."""
        for value in test.options.get("EACH", [None]):
            for case in test.cases:
                yield from self.call(program, build, test, case, value)

    def call(self, program, build, test, case, value):
        def filled(words):
            return words if value is None else [word.replace("{}", value) for word in words]

        def of_both(key):
            return program.common.get(key, []) + filled(test.options.get(key, []))

        case, setting = filled([case, test.setting])
        name = self.name(program, build, test, case, setting)
        arguments = test.options.get("ARGS", program.common.get("ARGS", [case]))
        arguments = [word.replace("{}", case) for word in arguments if word != "-"]
        call = [name, build.name]
        call += self.words(program, "ARGS", arguments)
        call += self.words(program, "ENV", of_both("ENV"))
        call += self.words(program, "CHECK", of_both("CHECK"))
        yield from self.with_run(program, name, call, test.options.get("RUN", []))

    def name(self, program, build, test, case, setting):
        if "NAME" in test.options:
            return test.options["NAME"][0]
        stem = pathlib.Path(program.source).stem
        prefix = build.name.replace(stem, program.name, 1) if program.name else build.name
        return ".".join(part for part in (prefix, case, setting) if part not in ("", "-"))

    def with_run(self, program, name, call, runs):
        """The call of omp_test(), and what RUN adds to it."""
        condition, lines = "", []
        for run in runs:
            key, _, value = run.partition("=")
            if run == "alone":
                lines.append(f"omp_run_alone({name})")
            elif run == "timed":
                lines.append(f"omp_judge_time({name})")
            elif key == "llvm>":
                condition = f"if(tests_llvm_version VERSION_GREATER_EQUAL {value})"
            elif key in ("timeout", "label") and value:
                call += [key.upper(), value]
            else:
                raise BadTest(f"{program.source}: RUN: '{run}' is nothing that is known")
        lines = [f"omp_test({' '.join(call)})", *lines]
        yield from [condition, *lines, "endif()"] if condition else lines


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--output", required=True, metavar="BASE")
    parser.add_argument("--variables", nargs="*", default=[], metavar="NAME")
    arguments = parser.parse_args()
    files = sorted(
        path for path in arguments.directory.rglob("*") if path.suffix in (".cpp", ".c", ".f90")
    )
    programs = []
    for path in files:
        source = path.relative_to(arguments.directory).as_posix()
        programs.append(read_program(source, path.read_text(encoding="utf-8")))
    programs = [program for program in programs if program]
    writer = Writer(arguments.variables)
    for what, lines_of in (("programs", writer.builds), ("tests", writer.tests)):
        lines = [line for program in programs for line in lines_of(program)]
        text = "".join(line + "\n" for line in lines)
        output = pathlib.Path(f"{arguments.output}-{what}.cmake")
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BadTest as error:
        print(f"hierbar: error: {error}", file=sys.stderr)
        sys.exit(2)
