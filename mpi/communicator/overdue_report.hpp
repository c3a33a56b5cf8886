// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>

#include "mpi/communicator/comm_state.hpp"

namespace hierbar::mpi {

// A report names so many of those that are missing.
inline constexpr std::size_t kMostNamed = 8;

// Which barrier is overdue.
struct Overdue {
  const Pmpi* pmpi;
  MPI_Comm comm;
  const CommState* state;
};

// Prints which ranks of this node have not arrived, with their processes and the state of these. If
// all have arrived, it prints that other nodes are awaited. Of the ranks that wait, only the lowest
// prints. `overdue` points to an Overdue.
void report_overdue(void* overdue, long waited_ns) noexcept;

}  // namespace hierbar::mpi
