// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "mpi/comm_state.hpp"
#include "mpi/pmpi.hpp"

namespace hierbar::mpi {

// "MPICH Version: 4.0.2".
std::string library_name(const Pmpi& pmpi);

// Prints which MPI library was found and how many barriers went which way: of all ranks of MPI_COMM_WORLD together, from rank 0,
// or else of this process, whose rank in the world is told if it has one. `together` is collective: the same in all ranks. Counts
// are per rank: a barrier of four ranks counts four times.
void print_report(const Pmpi& pmpi, const Counts& counts, bool in_world, bool together);

}  // namespace hierbar::mpi
