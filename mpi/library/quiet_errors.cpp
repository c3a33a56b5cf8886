// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/library/split_quietly.hpp"

namespace hierbar::mpi {

MPI_Comm split_quietly(const Pmpi& pmpi, MPI_Comm comm, int colour) {
  MPI_Errhandler handler;
  MPI_Comm made = pmpi.comm_null;
  const bool has_handler = ask([&] { return pmpi.Comm_get_errhandler(comm, &handler); });
  if (has_handler) pmpi.Comm_set_errhandler(comm, pmpi.errors_return);
  const int status = pmpi.Comm_split(comm, colour, 0, &made);
  if (has_handler) {
    ask([&] { return pmpi.Comm_set_errhandler(comm, handler); });
    pmpi.Errhandler_free(&handler);
  }
  if (status != MPI_SUCCESS) return pmpi.comm_null;
  if (made != pmpi.comm_null) pmpi.Comm_set_errhandler(made, pmpi.errors_return);
  return made;
}

}  // namespace hierbar::mpi
