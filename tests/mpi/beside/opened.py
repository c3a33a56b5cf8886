# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What parts.c does, by ctypes. Arguments: the MPI library, and "openmpi" where handles are
addresses.
"""

import ctypes
import sys

mpi = ctypes.CDLL(sys.argv[1])
if sys.argv[2:] == ["openmpi"]:
    Comm = ctypes.c_void_p
    world = Comm(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")))
else:
    Comm = ctypes.c_int
    world = Comm(0x44000000)
mpi.MPI_Init(None, None)
for _ in range(10):
    comm = Comm()
    mpi.MPI_Comm_dup(world, ctypes.byref(comm))
    mpi.MPI_Barrier(comm)
    mpi.MPI_Comm_free(ctypes.byref(comm))
for _ in range(90):
    mpi.MPI_Barrier(world)
mpi.MPI_Finalize()
