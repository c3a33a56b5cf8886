// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/cross_with.hpp"

namespace hierbar::mpi {

int cross_recorded(CommState& state, const Pmpi& pmpi, MPI_Comm comm, const void* caller) {
  if (state.trace == nullptr || !state.trace->take_next()) return cross(state, pmpi, comm);
  RankTrace trace = state.trace->open(caller);
  const int status = cross_with(state, pmpi, comm, trace);
  trace.left();
  if (state.trace->is_full()) state.trace->settle(pmpi, comm);
  return status;
}

}  // namespace hierbar::mpi
