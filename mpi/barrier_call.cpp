// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier_call.hpp"

#include "mpi/set_up.hpp"
#include "mpi/shim.hpp"

namespace hierbar::mpi {
namespace {

// Barriers of ours that this thread is in: the MPI library may call MPI_Barrier from inside what the shim calls.
thread_local int depth = 0;

struct DepthGuard {
  DepthGuard() noexcept { ++depth; }
  ~DepthGuard() { --depth; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
};

int pass_on(Shim& shim, const Pmpi& pmpi, MPI_Comm comm, Way way) noexcept {
  shim.states.count(way);
  return pmpi.Barrier(comm);
}

}  // namespace

int barrier(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  Shim& shim = Shim::get();
  if (!shim.settings.enabled) return pass_on(shim, pmpi, comm, Way::kOff);
  if (depth > 0) return pass_on(shim, pmpi, comm, Way::kNested);
  const DepthGuard guard;
  if (comm == pmpi.comm_null || (shim.keyval() == MPI_KEYVAL_INVALID && shim.make_keyval(pmpi) == MPI_KEYVAL_INVALID)) {
    return pass_on(shim, pmpi, comm, Way::kOutside);
  }
  CommState* state = nullptr;
  if (!shim.find(pmpi, comm, state)) return pass_on(shim, pmpi, comm, Way::kOutside);
  if (state == nullptr) state = set_up(shim, pmpi, comm);
  return cross(*state, pmpi, comm);
}

}  // namespace hierbar::mpi
