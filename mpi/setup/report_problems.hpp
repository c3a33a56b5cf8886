// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include "mpi/setup/process_state.hpp"

namespace hierbar::mpi {

// Says once in a program what is wrong with the settings: rank 0 of MPI_COMM_WORLD does, or where
// there is only a session, rank 0 of `comm`. To be called in the first barrier of a communicator,
// whatever will serve it.
void report_problems(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm);

}  // namespace hierbar::mpi
