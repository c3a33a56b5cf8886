#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether docs/guide/doctor.md has the codes of `hierbar doctor`, all of them and no others, and
its help those of the findings."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = (ROOT / "runtime/cli/doctor").glob("*diagnosis.cpp")
# How a source begins a Diagnosis or an Inactivity, or passes on what `hierbar check` finds.
CODE = re.compile(r'(?:\badd\(|(?:return |Inactivity|push_back\(\s*)\{)\s*"([a-z-]+)",')
PASSED_ON = re.compile(r"finding\.kind == FindingKind::k(\w+)")


def codes_of_sources():
    codes = set()
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        codes.update(CODE.findall(text))
        for kind in PASSED_ON.findall(text):
            codes.add("-".join(re.findall("[A-Z][a-z]+", kind)).lower())
    return codes


def codes_of_page(first_section, section_behind):
    page = (ROOT / "docs/guide/doctor.md").read_text(encoding="utf-8")
    tables = page.split(f"\n## {first_section}\n")[1].split(f"\n## {section_behind}\n")[0]
    return set(re.findall(r"^\| `([a-z-]+)` \|", tables, re.MULTILINE))


class DoctorCodesTest(unittest.TestCase):
    def test_the_page_has_the_codes_of_the_sources(self):
        self.assertEqual(codes_of_sources(), codes_of_page("Findings", "JSON"))

    def test_the_help_has_the_codes_of_the_findings(self):
        text = (ROOT / "runtime/cli/doctor/doctor_command.cpp").read_text(encoding="utf-8")
        words = set(re.findall(r"[a-z-]+", text.partition("kDoctorHelp")[2].partition(";\n")[0]))
        self.assertEqual(codes_of_page("Findings", "Not active") - words, set())


if __name__ == "__main__":
    unittest.main()
