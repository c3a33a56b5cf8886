#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of paths_test.py on a small repository, without a fault and with one of each kind."""

import pathlib
import tempfile
import unittest

import paths_test

DECISION = "docs/decisions/0001-one-word.md"
GOOD = {
    "README.md": "`runtime/a.hpp`, `runtime/*.hpp`, `a.hpp`, build/release/x.so, "
                 "[docs](docs/README.md#top).\n",
    "docs/README.md": "See runtime/a.hpp. And https://x.org/runtime/b.hpp\n",
    "docs/decisions/README.md": "- [0001](0001-one-word.md) one word\n",
    DECISION: "# 1. One word\n",
    "runtime/a.hpp": "// docs/decisions/0001-one-word.md\n",
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

    def test_a_decision_has_at_most_forty_lines(self):
        self.assertEqual(faults_with({DECISION: "# 1. One word\n" + 39 * "\n"}), [])
        self.expect({DECISION: "# 1. One word\n" + 40 * "\n"}, "41 lines")

    def test_a_decision_has_at_most_a_hundred_columns(self):
        self.expect({DECISION: "# 1. One word\n" + 101 * "x" + "\n"}, "100 columns")

    def test_a_decision_has_the_number_of_its_name(self):
        self.expect({DECISION: "# 2. One word\n"}, "number")

    def test_a_decision_is_called_by_number_and_title(self):
        index = GOOD["docs/decisions/README.md"] + "- [word](word.md) a word\n"
        word = {"docs/decisions/word.md": "# 2. A word\n", "docs/decisions/README.md": index}
        self.expect(word, "word.md")

    def test_the_index_has_every_decision_once(self):
        self.expect({"docs/decisions/0002-two.md": "# 2. Two\n"}, "0 times in the index")
        twice = 2 * GOOD["docs/decisions/README.md"]
        self.expect({"docs/decisions/README.md": twice}, "2 times in the index")


if __name__ == "__main__":
    unittest.main()
