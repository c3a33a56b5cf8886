// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/library/pmpi.hpp"

// What the shim says on the standard error output about settings and barriers.
namespace hierbar::mpi {

class ProcessState;

// Says once in a program what is wrong with the settings: rank 0 of MPI_COMM_WORLD does, or where
// there is only a session, rank 0 of `comm`. To be called in the first barrier of a communicator,
// whatever will serve it.
void report_problems(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm);

// A report names so many of those that are missing.
inline constexpr std::size_t kMostNamed = 8;

// Which barrier is overdue.
struct Overdue {
  const Pmpi* pmpi;
  MPI_Comm comm;
  const CommState* state;
};

// Which call with data is.
struct OverdueData : Overdue {
  static constexpr int kAny = -1;
  DataCall call;
  int awaited = kAny;  // the one rank whose data this rank waits for
};

// Prints which ranks of this node have not arrived, with their processes and the state of these. If
// all have arrived, it prints that other nodes are awaited. Of the ranks that wait, only the lowest
// prints. `overdue` points to an Overdue.
void report_overdue(void* overdue, long waited_ns) noexcept;

// The same for a call with data. `overdue` points to the Overdue of an OverdueData. The state has
// the part that serves the call.
void report_overdue_data(void* overdue, long waited_ns) noexcept;

// What is reported of a process, or of all of them.
struct AllCounts {
  Counts barriers;
  DataCounts data;
};

// Prints which MPI library was found, how many barriers the engine and the library served, and with
// HIERBAR_MPI=collectives how many calls with data. With `together`, rank 0 prints it for all ranks
// of MPI_COMM_WORLD; this is collective, and `together` must be the same in all ranks. Otherwise
// each process prints its own, with `rank`, which is 0 where there is no world. Counts are per
// rank: a barrier of four ranks counts as four.
void print_report(const Pmpi& pmpi, const AllCounts& counts, int rank, bool together);

// Prints the counts of calls behind the report of this rank.
void print_rest(const AllCounts& counts, int rank);

}  // namespace hierbar::mpi
