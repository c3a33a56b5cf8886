// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/between/meeting.hpp"
#include "mpi/setup/agreement.hpp"
#include "mpi/setup/offer.hpp"
#include "mpi/setup/rank_info.hpp"

namespace hierbar::mpi {

// The processes that lead the nodes, in the order of the nodes.
std::vector<std::uint64_t> leader_processes(const std::vector<RankInfo>& records, const NodeMap& map);

// Rank 0's part, on several nodes: writes into its offer by which schedules the leaders shall meet.
// If a trial among these leaders has ended before, this is its verdict.
void offer_meeting(Agreement& agreement, const std::vector<RankInfo>& records, const NodeMap& map, Offer& offer);

// How this leader meets the others, by rank 0's offer: with the library's collectives, or by messages
// only, if rank 0 has chosen a tag.
MeetingPlan plan_meeting(const Agreement& agreement, const std::vector<RankInfo>& records, const NodeMap& map,
                         const Offer& first);

}  // namespace hierbar::mpi
