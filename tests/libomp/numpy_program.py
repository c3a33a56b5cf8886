#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Multiplies matrices of small integers with Debian's numpy, whose OpenBLAS (libopenblas0-openmp)
was compiled by GCC. The products are exact, so that they can be compared with those of integer
arithmetic. Then it prints what other computations give, to the last bit, for a comparison with
another run."""

import ctypes
import glob
import hashlib
import pathlib
import sys

SKIPPED = 77

# Debian's alternatives may prefer an OpenBLAS with threads of its own. The loader takes what is
# loaded already under that name.
for library in ("libblas.so.3", "liblapack.so.3"):
    for path in glob.glob(f"/usr/lib/*/openblas-openmp/{library}"):
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)

try:
    import numpy
except ImportError:
    print("Skipped: there is no numpy (Debian: python3-numpy)")
    sys.exit(SKIPPED)


def print_results(random):
    for size in (150, 301):
        a, b = (random.standard_normal((size, size)) for _ in range(2))
        for name, result in (
            ("product", a @ b),
            ("solution", numpy.linalg.solve(a, b)),
            ("norm", numpy.linalg.norm(a @ a.T, 2)),
            ("qr", numpy.linalg.qr(a)[1]),
        ):
            print(name, size, hashlib.sha256(numpy.ascontiguousarray(result).tobytes()).hexdigest())


def main():
    random = numpy.random.default_rng(1)
    for size in range(100, 300, 10):
        a, b = (random.integers(-100, 100, (size, size)) for _ in range(2))
        for _ in range(5):
            product = a.astype(float) @ b.astype(float)
            if not (product == a @ b).all():
                print(f"a product of matrices of {size} rows is wrong")
                return 1
    libraries = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    if "/libomp.so" not in libraries and "/libgomp.so.1" not in libraries:
        print("Skipped: numpy uses no BLAS with OpenMP (Debian: libopenblas0-openmp)")
        return SKIPPED
    print_results(random)
    return 0


if __name__ == "__main__":
    sys.exit(main())
