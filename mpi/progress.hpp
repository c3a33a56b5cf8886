// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mpi/pmpi.hpp"

namespace hierbar::mpi {

// Lets the MPI library make progress. By its own function where it exports one; otherwise by asking for the state of a receive
// that nothing is ever sent to.

// Chooses the way. Local: the communicator is made from the calling process's place in `comm` alone. Thread-safe; call it where
// this process is in no other collective call. False: the library has no memory for it, or the like.
bool prepare_progress(const Pmpi& pmpi, MPI_Comm comm);
// Frees what prepare_progress() made; it can be called again.
void end_progress(const Pmpi& pmpi);
// After prepare_progress().
void make_progress() noexcept;
// "PMPI_Request_get_status", for reports; before prepare_progress() "none".
const char* progress_name();

}  // namespace hierbar::mpi
