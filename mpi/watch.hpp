// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include "mpi/comm_state.hpp"

namespace hierbar::mpi {

// Which barrier is overdue.
struct Overdue {
  const Pmpi* pmpi;
  MPI_Comm comm;
  const CommState* state;
};

// Says which ranks of this node have not arrived, with their processes and what these do; if all have, that other nodes are
// waited for. Of the ranks that wait, the lowest speaks. `overdue` is an Overdue.
void tell_overdue(void* overdue, long waited_ns) noexcept;

}  // namespace hierbar::mpi
