// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mpi/communicator/comm_state.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/setup/process_state.hpp"

namespace hierbar::mpi {

// MPI_Barrier, for all entry points.
int barrier(const Pmpi& pmpi, MPI_Comm comm) noexcept;

// The same, recorded as HIERBAR_REPORT says. `caller` is the place in the program from which the
// barrier is called.
int recorded_barrier(const Pmpi& pmpi, MPI_Comm comm, const void* caller) noexcept;

// The state of a communicator. It is made if there is none. Null: the library must serve the
// barrier itself, because MPI is not in use or the handle is no communicator.
CommState* find_state(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm) noexcept;

// While it exists, the calling thread is in a barrier of ours. The MPI library may call MPI_Barrier
// from inside the functions that the shim calls then; it serves that itself.
class InsideGuard {
 public:
  InsideGuard() noexcept;
  explicit InsideGuard(bool& inside) noexcept : inside_(inside) { inside_ = true; }
  ~InsideGuard() { inside_ = false; }
  InsideGuard(const InsideGuard&) = delete;
  InsideGuard& operator=(const InsideGuard&) = delete;

 private:
  bool& inside_;
};

}  // namespace hierbar::mpi
