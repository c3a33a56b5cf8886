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

// What a part is called for users.
struct PartWords {
  const char* calls;
  const char* first_call;
  const char* consequence;
};
constexpr PartWords kOfCollectives{
    "allreduces, allgathers, alltoalls and reduce-scatters",
    "the first allreduce, allgather, alltoall or reduce-scatter",
    "the MPI library serves its allreduces, allgathers, alltoalls and reduce-scatters instead"};
constexpr PartWords kOfOneWay{
    "bcasts, reduces, gathers and scatters", "the first bcast, reduce, gather or scatter",
    "the MPI library serves its bcasts, reduces, gathers and scatters instead"};

void fail_for_memory(Agreement& agreement, const PartWords& words) {
  agreement.fail(Route::kNoCollectives,
                 std::string("no shared memory is left for the ") + words.calls +
                     " of a communicator of " + std::to_string(agreement.num_ranks()) +
                     " ranks on one node (HIERBAR_SEGMENT_KIB, or the size of /dev/shm)");
}

// A line for each program of many communicators would be of no use to most users.
void fail_for_many(Agreement& agreement, const PartWords& words) {
  agreement.fail(Route::kNoCollectives,
                 agreement.process().settings.verbose
                     ? "more than " + std::to_string(ProcessState::kMostWithCollectives) +
                           " communicators of a process have " + words.calls
                     : std::string());
}

// Clears this rank's parts. Null: that failed, and the agreement knows it.
template <class Memory>
std::unique_ptr<Memory> clear_own_parts(Agreement& agreement, const PartWords& words,
                                        const NodeBarrier& node, const DataPlace& place) {
  auto made = std::make_unique<Memory>(node, place);
  if (made->clear()) return made;
  fail_for_memory(agreement, words);
  return nullptr;
}

// The leader claims the memory. All clear their own parts of it. `own` is what the node's leader
// tells the others.
template <class Memory>
std::unique_ptr<Memory> share_memory(Agreement& agreement, const PartWords& words,
                                     const NodeBarrier& node, DataPlace& own) {
  std::unique_ptr<Memory> made;
  if (node.leads() && !agreement.has_failed()) {
    own = Memory::claim(node);
    if (own.num_units == 0) {
      fail_for_memory(agreement, words);
    } else {
      made = clear_own_parts<Memory>(agreement, words, node, own);
    }
  }
  const auto leader = static_cast<std::size_t>(node.peers()[0].comm_rank);
  const std::vector<DataPlace> offers = agreement.exchange(own);
  const DataPlace& place = offers[leader];
  if (!node.leads() && !agreement.has_failed() && place.num_units != 0)
    made = clear_own_parts<Memory>(agreement, words, node, place);
  return made;
}

// 1. What this rank lacks.
// 2. The memory.
// 3. The verdict. A rank that has not been told the place has failed.
template <class Memory>
void make_part(Agreement& agreement, const PartWords& words, const NodeBarrier& node,
               DataPart<Memory>& part) {
  part.route = DataRoute::kLibrary;
  // The library has no answer, as in set_up().
  if (agreement.num_ranks() == 0) return;
  if (!packs_plainly(agreement.pmpi(), agreement.comm()))
    agreement.fail(Route::kNoCollectives,
                   "MPI_Pack of the MPI library adds to what it packs, or fails");
  ProcessState& process = agreement.process();
  std::atomic<int>& num_made = process.num_with(part);
  const bool is_one_more = ProcessState::claim_one(num_made);
  if (!is_one_more) fail_for_many(agreement, words);

  DataPlace own{};
  std::unique_ptr<Memory> made = share_memory<Memory>(agreement, words, node, own);

  if (agreement.agree(nullptr) == Route::kEngine) {
    part.memory = std::move(made);
    part.route = DataRoute::kEngine;
    return;
  }
  if (own.num_units != 0) node.block().segment().units().release(own.first_unit, own.num_units);
  if (is_one_more) ProcessState::give_back_one(num_made);
}

}  // namespace

void make_collectives(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, CommState& state,
                      DataPart<NodeCollectives>& part) {
  const InsideGuard guard;
  const QuietErrors quiet(pmpi, comm);
  Agreement agreement(process, pmpi, comm, kOfCollectives.consequence, kOfCollectives.first_call);
  make_part(agreement, kOfCollectives, *state.node, part);
}

void make_collectives(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, CommState& state,
                      DataPart<NodeOneWay>& part) {
  const InsideGuard guard;
  const QuietErrors quiet(pmpi, comm);
  Agreement agreement(process, pmpi, comm, kOfOneWay.consequence, kOfOneWay.first_call);
  make_part(agreement, kOfOneWay, *state.node, part);
}

}  // namespace hierbar::mpi
