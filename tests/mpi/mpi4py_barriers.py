# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Barriers on what mpi4py's own tests try them on: the predefined communicators, duplicates, parts,
and pairs of groups; from several threads as well. Of three ranks."""

import threading

from mpi4py import MPI

assert MPI.Query_thread() == MPI.THREAD_MULTIPLE
world = MPI.COMM_WORLD
assert world.size == 3


def use(comm, times=2):
    for _ in range(times // 2):
        comm.Barrier()
        comm.barrier()


def watch(comm, rounds):
    """Nobody leaves before all have arrived, and nobody is more than one ahead: the rounds stand in
    memory that all ranks see.
    """
    window = MPI.Win.Allocate_shared(8 * comm.size if comm.rank == 0 else 0, 8, comm=comm)
    words = memoryview(window.Shared_query(0)[0]).cast("q")
    for number in range(1, rounds + 1):
        words[comm.rank] = number
        comm.Barrier()
        assert all(word in (number, number + 1) for word in words), list(words)
    window.Free()


use(MPI.COMM_SELF)  # 2 for each rank: "one rank"
use(world)  # 2
watch(world, 200)  # 200

copy = world.Dup()
use(copy)  # 2
copy.Free()

for _ in range(50):
    copy = world.Dup()
    use(copy)  # 2, 50 times
    copy.Free()

# Two ranks and one, and the pair of both groups.
part = world.Split(color=min(world.rank, 1), key=-world.rank)
between = part.Create_intercomm(0, world, 2 if world.rank == 0 else 0)
use(between)  # 2: "intercommunicator"
between.Free()
part.Free()

# An outstanding MPI_Ibarrier is the library's business.
request = world.Ibarrier()
use(world)  # 2
request.wait()

# Threads in barriers of different communicators.
comms = [world.Dup() for _ in range(3)]
threads = [threading.Thread(target=use, args=(comm, 40)) for comm in comms]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()  # 40, 3 times
for comm in comms:
    comm.Free()

# Errors come as exceptions, from the library.
try:  # 1: "outside"
    MPI.COMM_NULL.Barrier()
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_COMM
else:
    raise AssertionError("a barrier on MPI_COMM_NULL")
