// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/process_state.hpp"

namespace hierbar::mpi {

// A set-up takes as long as some of the library's own barriers. Communicators that are made for one
// barrier, or a few, would lose time by it. So the library serves a communicator's first barriers,
// and the one with the number `set_up_at` of the settings sets it up
// (docs/design/mpi-setup.md#d0177). MPI_COMM_WORLD is set up in its first one: it lives as long as
// the program.
//
// Each rank counts its calls of MPI_Barrier on the communicator, whatever they return. With
// HIERBAR_MPI=collectives it counts with them the calls with data that the engine could serve. The
// calls of all ranks are the same ones in the same order, so all of them come to the set-up
// together without a message. The count is in the communicator's state, whose route is kBeforeSetUp
// meanwhile. Such a state is not in States, and no thread remembers it between two barriers.

// The route of a communicator that this rank can tell alone: of one rank, between two groups, or of
// threads. kEngine: it depends on the other ranks. Nothing: `comm` is no communicator.
std::optional<Route> route_by_itself(const Pmpi& pmpi, MPI_Comm comm);

// How many of them there have been. `state` is that of a communicator that is not set up.
inline std::uint64_t num_before_set_up(const CommState& state) noexcept {
  std::uint64_t number = state.num_barriers.load(std::memory_order_relaxed);
  for (const std::atomic<std::uint64_t>& calls : state.num_data_calls)
    number += calls.load(std::memory_order_relaxed);
  return number;
}

// For such a call on `comm`: the state with which they are counted, made if there is none. `state`
// is that state, or null. Returns null where the call is to set up the communicator, also if that
// needs nobody else.
CommState* state_before_set_up(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm,
                               CommState* state);

// A barrier of the library on a communicator that is not set up. Returns MPI's status. May be left
// by a jump or an exception of the program's error handler, as the library's may.
int cross_before_set_up(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, CommState& state);
// The same for a call with data, which `call` makes: it returns the library's status.
int pass_on_before_set_up(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, CommState& state,
                          DataCall kind, const std::function<int()>& call);

}  // namespace hierbar::mpi
