# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Searches for the nearest of 20,000 vectors, a few at a time.
#
# /// row faiss
# title = "Faiss"
# wheels = ["faiss-cpu==1.15.1"]
# command = ["{python}", "{file}"]
# time = 'seconds: ([0-9.]+)'
# # Its matrix products are those of an OpenBLAS with threads of its own.
# environment = { OPENBLAS_NUM_THREADS = "1" }
# ///
"""Exact searches by Faiss: 16 queries in each, a parallel region or two."""

import time

import faiss
import numpy


def main():
    vectors = numpy.random.default_rng(1).random((20000, 64), dtype="float32")
    index = faiss.IndexFlatL2(64)
    index.add(vectors)
    total = 0
    start = time.perf_counter()
    for step in range(400):
        queries = vectors[16 * step : 16 * step + 16]
        total += int(index.search(queries, 5)[1].sum())
    print(f"seconds: {time.perf_counter() - start:.6f}")
    print(f"sum of the numbers found: {total}")


if __name__ == "__main__":
    main()
