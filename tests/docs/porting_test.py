#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether docs/contribute/porting.md names every file of a product that knows an architecture."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCTS = ("runtime", "mpi", "ompt-tools", "bench")
SOURCES = (".c", ".cpp", ".h", ".hpp")
# As the compiler and libomp name architectures, and what only one of them has.
ARCHITECTURE = re.compile(r"__(x86_64|i386|aarch64|SSE|riscv\w*|powerpc64)__|\bKMP_ARCH_\w+")


class PortingTest(unittest.TestCase):
    def test_the_page_has_every_file_that_knows_an_architecture(self):
        page = (ROOT / "docs/contribute/porting.md").read_text(encoding="utf-8")
        rows = "".join(line for line in page.splitlines() if line.startswith("| `"))
        named = set(re.findall(r"`((?:%s)/[\w/.-]+)`" % "|".join(PRODUCTS), rows))
        know = {
            str(path.relative_to(ROOT))
            for product in PRODUCTS
            for path in (ROOT / product).rglob("*")
            if path.suffix in SOURCES and ARCHITECTURE.search(path.read_text(encoding="utf-8"))
        }
        self.assertEqual(know, named)


if __name__ == "__main__":
    unittest.main()
