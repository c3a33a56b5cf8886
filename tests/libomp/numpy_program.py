#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Multiplies matrices of small integers with Debian's numpy, whose OpenBLAS (libopenblas0-openmp) was compiled by GCC. The
products are exact, so that they can be compared with those of integer arithmetic."""

import pathlib
import sys

SKIPPED = 77

try:
    import numpy
except ImportError:
    print("Skipped: there is no numpy (Debian: python3-numpy)")
    sys.exit(SKIPPED)


def main():
    random = numpy.random.default_rng(1)
    for size in range(100, 300, 10):
        a, b = (random.integers(-100, 100, (size, size)) for _ in range(2))
        for _ in range(5):
            product = a.astype(float) @ b.astype(float)
            if not (product == a @ b).all():
                print(f"a product of matrices of {size} rows is wrong")
                return 1
    if "/libomp.so" not in pathlib.Path("/proc/self/maps").read_text(encoding="utf-8"):
        print("Skipped: numpy uses no BLAS with OpenMP (Debian: libopenblas0-openmp)")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
