// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// While it exists, errors on a communicator are returned. Around what the shim does there for itself:
// all ranks must come to one verdict, and the program's error handler may end the call by a jump, or
// call MPI_Barrier. If the library refuses, errors reach the handler.
class QuietErrors {
 public:
  QuietErrors(const Pmpi& pmpi, MPI_Comm comm);
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  const Pmpi& pmpi_;
  MPI_Comm comm_;
  MPI_Errhandler handler_;
  bool has_handler_;
};

// MPI_Comm_split by `colour`, in the order of the ranks in `comm`. Errors are returned: the library
// may have no communicator left, which must not reach the program's error handler. Those of the new
// communicator are returned as well, for the caller to raise on one that the program knows. Returns
// the null communicator if the library refuses, or where the colour is MPI_UNDEFINED.
MPI_Comm split_quietly(const Pmpi& pmpi, MPI_Comm comm, int colour);

}  // namespace hierbar::mpi
