// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// MPI_Comm_free or MPI_Comm_disconnect, as `free` says, and the end of what we know about the
// communicator. Collective, as they are.
int free_comm(const Pmpi& pmpi, MPI_Comm* comm, int (*free)(MPI_Comm*));

}  // namespace hierbar::mpi
