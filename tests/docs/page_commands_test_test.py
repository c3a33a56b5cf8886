#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of page_commands.py on a small page, and whether every page of the repository has marks."""

import pathlib
import unittest

from page_commands import blocks_of, calls_in, faults_of_marks, missing_lines

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = """\
```mermaid
flowchart LR
```

<!-- run: app -->

```console
$ run ./app
7 served, 0 left

$ run \\
    ./other
...
```

Text.

<!-- run elsewhere: .ci/run -->

```sh
./bootstrap demo    # builds
```

1. A list.

   <!-- not run: takes a day -->

   ```console
   $ measure --all
   ```

<!-- run, exit 1: doctor -->

```console
$ doctor
```
"""


class PageCommandsTest(unittest.TestCase):
    def test_a_block_has_its_mark_and_its_commands_with_their_output(self):
        app, demo, day, doctor = blocks_of(DOCUMENT)
        self.assertEqual((app.name, app.how, app.line), ("app", "run", 8))
        self.assertEqual(app.commands(), [("run ./app", ["7 served, 0 left"]), ("run ./other", [])])
        self.assertEqual(
            (demo.name, demo.how, demo.first_word()), (".ci/run", "run elsewhere", "./bootstrap")
        )
        self.assertEqual((day.how, day.name), ("not run", "takes a day"))
        self.assertEqual(day.commands(), [("measure --all", [])])
        self.assertEqual((doctor.how, doctor.exit_status, app.exit_status), ("run", 1, 0))

    def expect_one_fault(self, document, words):
        faults = faults_of_marks(document)
        self.assertEqual(len(faults), 1, faults)
        self.assertIn(words, faults[0])

    def test_every_block_needs_a_mark(self):
        self.assertEqual(faults_of_marks(DOCUMENT), [])
        self.expect_one_fault(DOCUMENT.replace("<!-- run: app -->", "Text:"), "run ./app")

    def test_a_mark_belongs_to_the_next_block_only(self):
        self.expect_one_fault(
            DOCUMENT.replace("<!-- run elsewhere: .ci/run -->", ""), "./bootstrap demo"
        )

    def test_commands_cannot_hide_in_another_block(self):
        self.expect_one_fault("```text\n$ run ./app\n```\n", "```console")
        self.expect_one_fault("```\nrun ./app\n```\n", "what it holds")
        self.expect_one_fault("Text:\n\n    run ./app\n", "needs a fence")

    def test_a_block_to_run_has_commands(self):
        self.expect_one_fault("<!-- run: app -->\n```console\nrun ./app\n```\n", "begins with '$ '")

    def test_a_number_may_be_another_one_but_zero_stays_zero(self):
        self.assertEqual(missing_lines(["7 served, 0 left"], "first\n1234 served, 0 left\n"), [])
        for output in ("0 served, 0 left", "7 served, 1 left", "7 served", "x 7 served, 0 left"):
            self.assertEqual(missing_lines(["7 served, 0 left"], output), ["7 served, 0 left"])

    def test_dots_stand_for_any_text_and_a_figure_for_any_figure(self):
        self.assertEqual(missing_lines(["at ...: 1.50 us"], "at 12, far: 0.07 us\n"), [])
        self.assertEqual(missing_lines(["at ...: 1.50 us"], "at 12: 3 us\n"), ["at ...: 1.50 us"])

    def test_lines_are_expected_in_their_order(self):
        self.assertEqual(missing_lines(["a", "b"], "a\nb\n"), [])
        self.assertEqual(missing_lines(["a", "b"], "b\na\n"), ["b"])

    def test_calls_are_found_wherever_they_stand(self):
        def calls(command):
            return calls_in(command, lambda word: word == "hierbar")

        self.assertEqual(
            calls("mpiexec $(hierbar place -n 4 --settings=mpiexec) -n 4 ./app # -x"),
            [("hierbar", "place", ["-n", "--settings"])],
        )
        self.assertEqual(
            calls("A=1 hierbar run --dry-run -- srun -c 8 ./a && hierbar tune --json | tee x"),
            [("hierbar", "run", ["--dry-run"]), ("hierbar", "tune", ["--json"])],
        )
        self.assertEqual(calls("mpiexec -n 4 ./app"), [])
        self.assertEqual(calls("python -m hierbar run -m train --epochs 3"), [])


class EveryPage(unittest.TestCase):
    def setUp(self):
        names = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
        for folder in ("docs", "packaging", "runtime", "mpi", "ompt-tools"):
            names += sorted((ROOT / folder).rglob("*.md"))
        self.pages = {
            str(name.relative_to(ROOT)): name.read_text(encoding="utf-8") for name in names
        }

    def test_has_marks(self):
        for page, text in self.pages.items():
            with self.subTest(page=page):
                self.assertEqual(faults_of_marks(text), [])

    def test_with_commands_has_a_test_that_runs_them(self):
        registered = (ROOT / "tests/docs/CMakeLists.txt").read_text(encoding="utf-8")
        for page, text in self.pages.items():
            with self.subTest(page=page):
                self.assertEqual(bool(blocks_of(text)), page in registered)


if __name__ == "__main__":
    unittest.main()
