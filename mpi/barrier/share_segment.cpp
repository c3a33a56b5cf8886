// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/share_segment.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace hierbar::mpi {
namespace {

// What a node's leader sends to its members.
struct Invitation {
  std::uint64_t segment_id;  // 0: there is none
  char name[120];
};

}  // namespace

std::size_t segment_bytes(const ShimSettings& settings, std::size_t num_ranks) {
  constexpr std::size_t kComms = 1024, kSmallest = 256U << 10, kLargest = 64U << 20;
  if (settings.segment_kib != 0) return static_cast<std::size_t>(settings.segment_kib) << 10;
  // A unit for the slot of each rank; the plan and the peers take less than a tenth of that, but a
  // unit.
  const std::size_t of_comm = num_ranks * (NodeSegment::kUnitBytes + NodeSegment::kUnitBytes / 10) +
                              NodeSegment::kUnitBytes;
  const std::size_t of_barriers = std::clamp(kComms * of_comm, kSmallest, kLargest);
  const std::size_t of_collectives =
      num_ranks * (NodeCollectives::kBytesOfRank + NodeOneWay::kBytesOfRank);
  return settings.serves_collectives()
             ? of_barriers + ProcessState::kMostWithCollectives * of_collectives
             : of_barriers;
}

namespace {

Invitation invite(Agreement& agreement, NodePart& part) {
  Invitation invitation{};
  sweep_segments();
  const auto num_ranks = static_cast<std::uint32_t>(part.ranks.size());
  auto made =
      NodeSegment::create(num_ranks, segment_bytes(agreement.process().settings, num_ranks));
  if (!made) {
    agreement.fail(Route::kNoSegment, made.error());
    return invitation;
  }
  part.segment = *std::move(made);
  invitation.segment_id = part.segment->id();
  std::snprintf(invitation.name, sizeof(invitation.name), "%s", part.segment->name().c_str());
  return invitation;
}

void join(Agreement& agreement, const Invitation& invitation, NodePart& part) {
  if (invitation.segment_id == 0) return;  // the leader has failed
  const auto num_ranks = static_cast<std::uint32_t>(part.ranks.size());
  if (!part.leads()) {
    auto joined = NodeSegment::join(invitation.name, invitation.segment_id, num_ranks);
    if (!joined) return agreement.fail(Route::kNoSegment, joined.error());
    part.segment = *std::move(joined);
  }
  for (std::uint32_t i = 0; i < num_ranks; ++i) part.members.push_back(i);
  part.segment->member(part.me) = {own_process(), read_own_binding()};
}

void use_again(const std::vector<RankInfo>& records, std::uint64_t segment_id,
               const std::vector<Membership>& joined, NodePart& part) {
  for (const Membership& membership : joined) {
    if (membership.segment->id() == segment_id) part.segment = membership.segment;
  }
  for (const int rank : part.ranks)
    part.members.push_back(member_index(records[static_cast<std::size_t>(rank)], segment_id));
}

}  // namespace

NodePart::NodePart(const NodeMap& map, int rank) : ranks(map.node_of(rank)) {
  me = static_cast<std::uint32_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) -
                                  ranks.begin());
}

Route share_segment(Agreement& agreement, const std::vector<RankInfo>& records, const NodeMap& map,
                    const std::vector<Membership>& joined, const std::vector<int>& full,
                    NodePart& part) {
  const bool is_full = std::find(full.begin(), full.end(), part.ranks.front()) != full.end();
  const std::uint64_t common = part.is_alone() || is_full ? 0 : common_segment(records, part.ranks);
  if (common != 0) use_again(records, common, joined, part);
  if (full.empty() && !lacks_segment(records, map)) return Route::kEngine;

  const bool is_new = part.is_new = !part.is_alone() && common == 0;
  const std::vector<Invitation> invitations =
      agreement.exchange(is_new && part.leads() ? invite(agreement, part) : Invitation{});
  if (is_new) join(agreement, part.from_leader(invitations), part);
  const Route verdict = agreement.agree(part.segment.get());
  if (is_new && part.segment != nullptr) {
    part.segment->unlink();
    if (verdict == Route::kEngine) agreement.process().memberships.add({part.segment, part.me});
  }
  return verdict;
}

}  // namespace hierbar::mpi
