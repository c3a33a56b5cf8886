# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from mpi4py import MPI

for _ in range(100):
    MPI.COMM_WORLD.Barrier()
