// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "mpi/barrier/messages.hpp"
#include "mpi/settings/settings.hpp"
#include "mpi/team/team.hpp"

namespace hierbar::mpi {

bool HybridTeam::Crossing::has_entered(std::uint32_t participant) const noexcept {
  const std::uint32_t me = team->first_ + thread;
  return collectives != nullptr ? collectives->has_entered(participant, me)
                                : seat->plan.barrier->block().has_entered(participant, me);
}

std::string HybridTeam::name_of(std::uint32_t participant) const {
  std::uint32_t thread = participant;
  std::size_t rank = 0;
  while (thread >= parts_.ranks[rank].num_threads) thread -= parts_.ranks[rank++].num_threads;
  const TeamRank& owner = parts_.ranks[rank];
  return "thread " + std::to_string(thread) + " of rank " + std::to_string(owner.comm_rank) +
         (parts_.node->num_joins(participant) == 0 ? ", which has not joined" : "") + " (process " +
         std::to_string(owner.process.pid) + ", " +
         state_of(owner.process.pid, owner.process.start_time) + ")";
}

std::string HybridTeam::list(const std::vector<std::uint32_t>& missing) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(missing.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + name_of(missing[i]);
  if (missing.size() > kMostNamed)
    text += " and " + std::to_string(missing.size() - kMostNamed) + " more";
  return text;
}

// Of the threads that wait, the one with the lowest number prints.
void HybridTeam::report_overdue(void* context, long waited_ns) noexcept {
  const Crossing& crossing = *static_cast<const Crossing*>(context);
  const HybridTeam& team = *crossing.team;
  const std::uint32_t me = team.first_ + crossing.thread;
  std::vector<std::uint32_t> missing, waiting;
  for (std::uint32_t i = 0; i < team.parts_.node->num_participants(); ++i)
    (crossing.has_entered(i) ? waiting : missing).push_back(i);
  // The last one has just arrived.
  if (missing.empty() && !team.parts_.meets) return;
  // When all have arrived, participant 0 is with the other nodes and does not get here.
  if (me != waiting[missing.empty() ? 1 : 0]) return;
  print_line(std::string(crossing.what) + " of a team on " + team.parts_.comm_name + " of " +
             std::to_string(team.parts_.node->num_participants()) +
             " threads on this node has waited " + std::to_string(waited_ns / 1'000'000'000) +
             " s for " +
             (missing.empty() ? "other ranks; all of this node's threads have arrived"
                              : team.list(missing)));
}

}  // namespace hierbar::mpi
