// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include "mpi/comm_state.hpp"
#include "mpi/shim.hpp"

namespace hierbar::mpi {

// Decides, at the first barrier of a communicator, which way its barriers go from now on, and makes what that needs. Collective
// on `comm`: the barrier is, at this very place. Uses only the MPI library's own collective calls on `comm` itself. All ranks
// come to the same decision, which holds until the communicator is freed; if the engine cannot be had because something failed,
// one rank says so, once in a program; see Agreement for what can fail. Returns the state, which find() finds from now on; null:
// `comm` is no communicator.
CommState* set_up(Shim& shim, const Pmpi& pmpi, MPI_Comm comm);

}  // namespace hierbar::mpi
