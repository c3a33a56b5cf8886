// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/plan_library.hpp"
#include "mpi/team/cross_team.hpp"
#include "trace/stamps.h"

namespace hierbar::mpi {

int HybridTeam::barrier_recorded(int thread, const void* caller) noexcept {
  const int status = check(thread, "hierbar_team_barrier");
  if (status != MPI_SUCCESS) return status;
  const auto number = static_cast<std::uint32_t>(thread);
  const Seat& seat = seats_[number];
  const Inside inside(seats_[number]);
  const std::uint64_t episode = seat.episode + 1;
  if (!parts_.trace->is_due(number, episode)) {
    NoTrace trace;
    return cross(number, trace);
  }
  const std::uint32_t me = first_ + number;
  const bool leads = parts_.meets ? me == 0 : seat.plan.barrier->plan().nodes[me].parent == me;
  RankTrace trace = parts_.trace->open(number, caller);
  const int result = cross(number, trace);
  trace.left();
  parts_.trace->close(number, episode, leads);
  return result;
}

void HybridTeam::settle() {
  // Without its communicator the ranks cannot exchange anything.
  if (has_comm_.load(std::memory_order_relaxed))
    parts_.trace->settle(*parts_.pmpi, parts_.comm, places(), seats_[0].episode);
}

// The process of participant 0 tells those of all threads of the node.
TeamTrace::Places HybridTeam::places() const {
  TeamTrace::Places places{{}, HIERBAR_UNIT_UNKNOWN, seats_[0].plan.is_outnumbered};
  if (first_ != 0) return places;
  std::vector<std::uint32_t> in_team;
  for (const TeamRank& rank : parts_.ranks) {
    for (std::uint32_t thread = 0; thread < rank.num_threads; ++thread)
      in_team.push_back(
          parts_.trace->participant_of(static_cast<std::uint32_t>(rank.comm_rank), thread));
  }
  const hierbar_plan& plan = seats_[0].plan.barrier->plan();
  PlanUnits units = find_plan_units(plan, parts_.node->bindings());
  // Between nodes participant 0 gathers from the node's other leaders as well.
  if (!parts_.meets) {
    places.exchange = units.exchange;
  } else if (plan.num_leaders > 1) {
    units.gather[0] = units.exchange;
  }
  for (std::uint32_t i = 0; i < in_team.size(); ++i) {
    const std::uint32_t above = plan.nodes[i].parent;
    places.of_node.push_back(
        {in_team[i], in_team[above == i && parts_.meets ? 0 : above], units.gather[i]});
  }
  return places;
}

// Whether barriers along the two plans have the same tree.
bool HybridTeam::is_same_tree(const hierbar_plan& one, const hierbar_plan& other) {
  for (std::uint32_t i = 0; i < one.num_participants; ++i) {
    if (one.nodes[i].parent != other.nodes[i].parent) return false;
  }
  return true;
}

}  // namespace hierbar::mpi
