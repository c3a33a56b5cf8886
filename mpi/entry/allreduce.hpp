// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// What a program gives MPI_Allreduce, beside the communicator.
struct AllreduceCall {
  const void* in;  // may be MPI_IN_PLACE
  void* out;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;
  bool is_large;  // MPI_Allreduce_c
};

// Whether allreduces are served at all; if not, an entry point passes its call on.
bool serves_allreduces() noexcept;

// MPI_Allreduce, for all entry points. The engine serves a call where all ranks find out alike that
// it can: by the count, the type and the operation, which MPI makes equal in all of them, and by
// the communicator, of which they have agreed on it (docs/design/mpi-calls.md#d0192). Where an
// argument is wrong in this rank, the library raises the error. May be left by a jump or an
// exception of the program's error handler.
int allreduce(const Pmpi& pmpi, MPI_Comm comm, const AllreduceCall& call);

// The calling thread's next allreduce looks for its communicator's state again.
void forget_last_allreduce() noexcept;

}  // namespace hierbar::mpi
