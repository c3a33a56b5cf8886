#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of readme_commands.py on a small document."""

import unittest

from readme_commands import blocks_of, missing_lines, unmarked_blocks

DOCUMENT = """\
```mermaid
flowchart LR
```

<!-- run: app -->

```console
$ run ./app
7 served, 0 left

$ run ./other
```

Text.

<!-- run elsewhere: .ci/run -->

```sh
./bootstrap demo    # builds
```
"""


class ReadmeCommandsTest(unittest.TestCase):
    def test_a_block_has_its_mark_and_its_commands_with_their_output(self):
        app, demo = blocks_of(DOCUMENT)
        self.assertEqual((app.name, app.is_elsewhere, app.line), ("app", False, 8))
        self.assertEqual(app.commands(), [("run ./app", ["7 served, 0 left"]), ("run ./other", [])])
        self.assertEqual((demo.name, demo.is_elsewhere, demo.first_word()), (".ci/run", True, "./bootstrap"))

    def test_every_block_needs_a_mark(self):
        self.assertEqual(unmarked_blocks(DOCUMENT), [])
        faults = unmarked_blocks(DOCUMENT.replace("<!-- run: app -->", "Text:"))
        self.assertEqual(len(faults), 1)
        self.assertIn("run ./app", faults[0])

    def test_a_mark_belongs_to_the_next_block_only(self):
        self.assertEqual(len(unmarked_blocks(DOCUMENT.replace("<!-- run elsewhere: .ci/run -->", ""))), 1)

    def test_a_number_may_be_another_one_but_zero_stays_zero(self):
        self.assertEqual(missing_lines(["7 served, 0 left"], "first\n1234 served, 0 left\n"), [])
        for output in ("0 served, 0 left", "7 served, 1 left", "7 served", "x 7 served, 0 left"):
            self.assertEqual(missing_lines(["7 served, 0 left"], output), ["7 served, 0 left"])

    def test_lines_are_expected_in_their_order(self):
        self.assertEqual(missing_lines(["a", "b"], "a\nb\n"), [])
        self.assertEqual(missing_lines(["a", "b"], "b\na\n"), ["b"])


if __name__ == "__main__":
    unittest.main()
