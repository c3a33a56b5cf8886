// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/library/quiet_errors.hpp"

namespace hierbar::mpi {

QuietErrors::QuietErrors(const Pmpi& pmpi, MPI_Comm comm)
    : pmpi_(pmpi), comm_(comm), has_handler_(ask([&] { return pmpi.Comm_get_errhandler(comm, &handler_); })) {
  if (has_handler_) pmpi_.Comm_set_errhandler(comm_, pmpi_.errors_return);
}

QuietErrors::~QuietErrors() {
  if (!has_handler_) return;
  ask([&] { return pmpi_.Comm_set_errhandler(comm_, handler_); });
  pmpi_.Errhandler_free(&handler_);
}

MPI_Comm split_quietly(const Pmpi& pmpi, MPI_Comm comm, int colour) {
  MPI_Comm made = pmpi.comm_null;
  int status = MPI_SUCCESS;
  {
    const QuietErrors quiet(pmpi, comm);
    status = pmpi.Comm_split(comm, colour, 0, &made);
  }
  if (status != MPI_SUCCESS) return pmpi.comm_null;
  if (made != pmpi.comm_null) pmpi.Comm_set_errhandler(made, pmpi.errors_return);
  return made;
}

}  // namespace hierbar::mpi
