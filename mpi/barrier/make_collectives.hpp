// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/process_state.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// Gives the collectives of a communicator their memory, in the first of them that the engine could
// serve (docs/design/mpi-setup.md#d0193). Most communicators have barriers alone, and need none.
//
// Requires: `state` is that of `comm`, its data_route is kUndecided, and all ranks of `comm` call
// this. They do, because they decide alike which calls the engine could serve.
//
// Guarantees: data_route is kEngine or kLibrary afterwards, alike in all ranks, until the
// communicator is freed. If something failed, one rank reports it, once in a program. See Agreement
// for what may fail.
void make_collectives(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, CommState& state);

}  // namespace hierbar::mpi
