# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Loops over small arrays: a parallel region every few microseconds.
#
# /// row numba
# title = "numba"
# wheels = ["numba==0.68.1"]
# command = ["{python}", "{file}"]
# environment = { NUMBA_THREADING_LAYER = "omp", NUMBA_NUM_THREADS = "{threads}" }
# time = 'seconds: ([0-9.]+)'
# ///
"""Diffusion on a grid of 256 x 256, in parallel loops of numba."""

import time

import numba
import numpy

SIZE, STEPS = 256, 5000


@numba.njit(parallel=True)
def step(old, new):
    for row in numba.prange(1, SIZE - 1):
        for column in range(1, SIZE - 1):
            around = old[row - 1, column] + old[row + 1, column]
            around += old[row, column - 1] + old[row, column + 1]
            new[row, column] = 0.5 * old[row, column] + 0.125 * around


def main():
    old = numpy.random.default_rng(1).random((SIZE, SIZE))
    new = old.copy()
    step(old, new)  # compiles it
    start = time.perf_counter()
    for _ in range(STEPS):
        step(old, new)
        old, new = new, old
    print(f"seconds: {time.perf_counter() - start:.6f}")
    print(f"sum: {old.sum():.9f}")


if __name__ == "__main__":
    main()
