#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of paths_test.py on a small repository, without a fault and with one of each kind."""

import pathlib
import tempfile
import unittest

import paths_test

DESIGN = "docs/design/words.md"
ONE = '| [0001](#d0001) | one word |\n\n<a id="d0001"></a>\n\n## 0001 One word\n'
GOOD = {
    "README.md": "`runtime/a.hpp`, `runtime/*.hpp`, `a.hpp`, build/release/x.so, "
    "[docs](docs/README.md#top).\n",
    "docs/README.md": "# Top\n\nSee runtime/a.hpp. And https://x.org/runtime/b.hpp\n",
    DESIGN: ONE,
    "docs/design/other.md": "[one word](words.md#d0001)\n",
    "runtime/a.hpp": "// docs/design/words.md#d0001\n",
}


def faults_with(changes):
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for name, text in {**GOOD, **changes}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return list(paths_test.all_faults(root))


class PathsTest(unittest.TestCase):
    def expect(self, changes, *words):
        faults = faults_with(changes)
        self.assertEqual(len(faults), 1, faults)
        for word in words:
            self.assertIn(word, faults[0])

    def test_good_documents_have_no_fault(self):
        self.assertEqual(faults_with({}), [])

    def test_a_path_must_exist(self):
        self.expect({"docs/words.md": "`runtime/b.hpp`\n"}, "docs/words.md", "runtime/b.hpp")

    def test_a_pattern_must_fit_something(self):
        self.expect({"docs/words.md": "`runtime/<version>.cpp`\n"}, "runtime/<version>.cpp")

    def test_a_file_name_alone_must_exist_somewhere(self):
        self.expect({"docs/words.md": "`b.hpp`\n"}, "b.hpp")

    def test_the_target_of_a_link_must_exist(self):
        self.expect({"docs/words.md": "[b](b.md)\n"}, "b.md")

    def test_a_document_that_a_source_names_must_exist(self):
        self.expect({"runtime/b.hpp": "// docs/b.md\n"}, "runtime/b.hpp", "docs/b.md")

    def test_a_choice_that_a_source_names_must_exist(self):
        self.expect({"runtime/b.hpp": "// docs/design/words.md#d0002\n"}, "runtime/b.hpp", "#d0002")

    def test_a_choice_that_a_document_names_must_exist(self):
        self.expect({"docs/words.md": "[two](design/words.md#d0002)\n"}, "docs/words.md", "#d0002")

    def test_the_heading_of_a_link_must_exist(self):
        words = "# Words\n\n## What `a.hpp` is, and why\n"
        link = "[what](words.md#what-ahpp-is-and-why)\n"
        self.assertEqual(faults_with({"docs/words.md": words, "docs/b.md": link}), [])
        self.expect({"docs/words.md": "# Words\n", "docs/b.md": link}, "docs/b.md", "#what-ahpp")

    def test_a_choice_has_a_row_in_its_table(self):
        self.expect({DESIGN: ONE.split("\n", 1)[1]}, "0001 has 0 rows")

    def test_a_choice_has_a_heading(self):
        self.expect({DESIGN: ONE.replace("## 0001 ", "## ")}, "0001 has 0 headings")

    def test_a_choice_is_in_one_page(self):
        self.expect({"docs/design/x.md": ONE}, "x.md", "0001 is also in words.md")


if __name__ == "__main__":
    unittest.main()
