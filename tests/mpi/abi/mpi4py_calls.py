# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Barriers and calls with data by mpi4py, whose results are known. Of each 100, and of barriers
200."""

from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
last = world.size - 1

copy = world.Dup()
for _ in range(100):
    world.Barrier()
    copy.Barrier()
copy.Free()

for number in range(100):
    sums = array("d", [0.0] * 3)
    world.Allreduce(array("d", [world.rank, number, 1.0]), sums, MPI.SUM)
    assert list(sums) == [last * world.size / 2, number * world.size, world.size], sums

    sent = [number, number + 1]
    data = array("i", sent if world.rank == last else [0, 0])
    world.Bcast(data, root=last)
    assert list(data) == sent, data

    largest = array("q", [-1])
    world.Reduce(array("q", [world.rank + number]), largest, MPI.MAX, root=0)
    assert largest[0] == (last + number if world.rank == 0 else -1), largest
