// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/make_collectives.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpi/barrier/agreement.hpp"

namespace hierbar::mpi {
namespace {

void fail_for_memory(Agreement& agreement) {
  agreement.fail(Route::kNoCollectives,
                 "no shared memory is left for the allreduces of a communicator of " +
                     std::to_string(agreement.num_ranks()) +
                     " ranks on one node (HIERBAR_SEGMENT_KIB, or the size of /dev/shm)");
}

// Clears this rank's parts. Null: that failed, and the agreement knows it.
std::unique_ptr<NodeCollectives> clear_own_parts(Agreement& agreement, const NodeBarrier& node,
                                                 const NodeCollectives::Place& place) {
  auto made = std::make_unique<NodeCollectives>(node, place);
  if (made->clear()) return made;
  fail_for_memory(agreement);
  return nullptr;
}

// A line for each program of many communicators would be of no use to most users.
void fail_for_many(Agreement& agreement) {
  agreement.fail(Route::kNoCollectives,
                 agreement.process().settings.verbose
                     ? "more than " + std::to_string(ProcessState::kMostWithCollectives) +
                           " communicators of a process have allreduces"
                     : std::string());
}

}  // namespace

void make_collectives(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, CommState& state) {
  const InsideGuard guard;
  const QuietErrors quiet(pmpi, comm);
  const NodeBarrier& node = *state.node;
  Agreement agreement(process, pmpi, comm, "the MPI library serves its allreduces instead",
                      "the first allreduce");
  if (agreement.num_ranks() == 0) {  // the library has no answer, as in set_up()
    state.data_route = DataRoute::kLibrary;
    return;
  }
  const bool is_one_more = process.claim_collectives();
  if (!is_one_more) fail_for_many(agreement);

  // 1. The leader claims the memory. All clear their own parts of it.
  NodeCollectives::Place own{};  // what the node's leader tells the others
  std::unique_ptr<NodeCollectives> made;
  if (node.leads() && is_one_more) {
    own = NodeCollectives::claim(node);
    if (own.num_units == 0) {
      fail_for_memory(agreement);
    } else {
      made = clear_own_parts(agreement, node, own);
    }
  }
  const auto leader = static_cast<std::size_t>(node.peers()[0].comm_rank);
  const std::vector<NodeCollectives::Place> offers = agreement.exchange(own);
  const NodeCollectives::Place& place = offers[leader];
  if (!node.leads() && !agreement.has_failed() && place.num_units != 0)
    made = clear_own_parts(agreement, node, place);

  // 2. The verdict. A rank that has not been told the place has failed.
  if (agreement.agree(nullptr) == Route::kEngine) {
    state.collectives = std::move(made);
    state.data_route = DataRoute::kEngine;
    return;
  }
  if (own.num_units != 0) node.block().segment().units().release(own.first_unit, own.num_units);
  if (is_one_more) process.give_back_collectives();
  state.data_route = DataRoute::kLibrary;
}

}  // namespace hierbar::mpi
