// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/process_state.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// Gives one of the two parts of a communicator's collectives its memory, in the first call that
// this part could serve (docs/design/mpi-setup.md#d0193). Most communicators have barriers alone,
// and need none.
//
// Requires: `state` is that of `comm`, the part's route is kUndecided, and all ranks of `comm` call
// this. They do, because they decide alike which calls the engine could serve.
//
// Guarantees: the route is kEngine or kLibrary afterwards, alike in all ranks, until the
// communicator is freed. If something failed, one rank reports it, once in a program. See Agreement
// for what may fail.
void make_collectives(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, CommState& state,
                      DataPart<NodeCollectives>& part);
void make_collectives(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, CommState& state,
                      DataPart<NodeOneWay>& part);

}  // namespace hierbar::mpi
