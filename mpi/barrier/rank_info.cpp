// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/rank_info.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

namespace hierbar::mpi {
namespace {

const RankInfo::Joined* find_segment(const RankInfo& record, std::uint64_t segment_id) {
  const auto* end = std::end(record.joined);
  const auto* found =
      std::find_if(std::begin(record.joined), end,
                   [&](const RankInfo::Joined& joined) { return joined.segment_id == segment_id; });
  return found == end ? nullptr : found;
}

}  // namespace

NodeMap::NodeMap(const std::vector<RankInfo>& records) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> seen;
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    const NodeKey& key = records[rank].node;
    const std::size_t node =
        seen.try_emplace({key.words[0], key.words[1]}, nodes_.size()).first->second;
    if (node == nodes_.size()) nodes_.emplace_back();
    nodes_[node].push_back(static_cast<int>(rank));
    node_of_.push_back(node);
  }
}

std::uint64_t common_segment(const std::vector<RankInfo>& records, const NodeMap::Ranks& ranks) {
  for (const RankInfo::Joined& offered : records[static_cast<std::size_t>(ranks.front())].joined) {
    if (offered.segment_id == 0) continue;
    const bool shared = std::all_of(ranks.begin(), ranks.end(), [&](int rank) {
      return find_segment(records[static_cast<std::size_t>(rank)], offered.segment_id) != nullptr;
    });
    if (shared) return offered.segment_id;
  }
  return 0;
}

bool lacks_segment(const std::vector<RankInfo>& records, const NodeMap& map) {
  return std::any_of(map.nodes().begin(), map.nodes().end(), [&](const NodeMap::Ranks& ranks) {
    return ranks.size() > 1 && common_segment(records, ranks) == 0;
  });
}

std::uint32_t member_index(const RankInfo& record, std::uint64_t segment_id) {
  const RankInfo::Joined* joined = find_segment(record, segment_id);
  assert(joined != nullptr);
  return joined->index;
}

bool all_have(const std::vector<RankInfo>& records, std::uint32_t flag) {
  return std::all_of(records.begin(), records.end(),
                     [&](const RankInfo& record) { return (record.flags & flag) != 0; });
}

}  // namespace hierbar::mpi
