#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of run.py's files of run."""

import pathlib
import unittest

import run

HERE = pathlib.Path(__file__).resolve().parent


class InputsTest(unittest.TestCase):
    def test_what_is_packed_comes_out_again(self):
        some = {
            "empty": b"",
            "text": b"a line\nand another\n",
            "no_newline_at_its_end": b"a line\nand another",
            "special": b"back\\slash \\x41 \0\xff\r\n== not a head\n== \\\n",
            "only_newlines": b"\n\n",
        }
        self.assertEqual(run.unpack(run.pack(some)), some)

    def test_a_file_shows_text_as_it_is(self):
        self.assertEqual(run.pack({"a": b"x=1\n", "b": b"\0"}), b"== a\nx=1\n== b\n\\x00\\\n")

    def test_the_files_of_the_repository_are_as_they_would_be_written(self):
        files = sorted((HERE / "corpus").glob("*.txt"))
        self.assertTrue(files)
        for path in files:
            text = path.read_bytes()
            self.assertEqual(run.pack(run.unpack(text)), text, path)


if __name__ == "__main__":
    unittest.main()
