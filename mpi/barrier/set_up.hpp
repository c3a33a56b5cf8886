// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/process_state.hpp"

namespace hierbar::mpi {

// Sets up a communicator: decides what serves its barriers from now on, and makes what that needs.
// It does so inside a barrier or a call with data, or where a team is made of its threads.
//
// Requires: all ranks of `comm` call it, which they do, because these calls are collective and they
// count them alike (before_set_up.hpp). It uses only the MPI library's own collective calls, on
// `comm` itself. `before` is the state that this rank has counted with, or null. `call` says for
// users what kind of call it is in: "barrier".
//
// Guarantees: all ranks come to the same decision, which holds until the communicator is freed. If
// the engine cannot be used because something failed, one rank reports it, once in a program. See
// Agreement for what may fail.
//
// Returns the state, which find() returns from now on. Null: `comm` is no communicator.
CommState* set_up(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, const char* call,
                  CommState* before = nullptr);

}  // namespace hierbar::mpi
