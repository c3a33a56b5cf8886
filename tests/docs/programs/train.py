# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The README's train.py: numpy on an OpenBLAS whose threads are OpenMP's, as Debian has it."""

import numpy

matrix = numpy.random.default_rng(1).random((400, 400))
for _ in range(100):
    matrix = matrix @ matrix / 100
    matrix /= numpy.abs(matrix).max()
print(matrix.shape)
