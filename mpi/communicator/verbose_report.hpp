// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mpi/communicator/comm_state.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// Prints which MPI library was found and how many barriers the engine and the library served. With
// `together`, rank 0 prints it for all ranks of MPI_COMM_WORLD; this is collective, and `together`
// must be the same in all ranks. Otherwise each process prints its own, with `rank`, which is 0 where
// there is no world. Counts are per rank: a barrier of four ranks counts as four.
void print_report(const Pmpi& pmpi, const Counts& counts, int rank, bool together);

// Prints the counts of barriers behind the report of this rank.
void print_rest(const Counts& counts, int rank);

}  // namespace hierbar::mpi
