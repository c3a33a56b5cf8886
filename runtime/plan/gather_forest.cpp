// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/gather_forest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hierbar {

GatherForest::GatherForest(const Machine& machine, const std::vector<LocalityPath>& paths)
    : machine_(machine), paths_(paths), parents_(paths.size()) {
  std::iota(parents_.begin(), parents_.end(), 0U);
}

std::uint32_t GatherForest::join(Members members) {
  while (members.size() > kMaxGroupMembers) {
    Members leaders;
    for (Members& group : lowest_groups(members)) leaders.push_back(join(std::move(group)));
    members = std::move(leaders);
  }
  const std::uint32_t leader = *std::min_element(members.begin(), members.end());
  for (const std::uint32_t member : members) parents_[member] = leader;
  return leader;
}

// The machine's units, if they make at most one more level; otherwise even parts.
std::vector<Members> GatherForest::lowest_groups(const Members& members) const {
  std::vector<Members> groups;
  collect_sub_units(members, 1, groups);
  const bool useful = groups.size() <= kMaxGroupMembers && std::all_of(groups.begin(), groups.end(), [](const Members& group) {
                        return group.size() <= kMaxGroupMembers;
                      });
  if (useful) return groups;
  const std::size_t num_chunks = (members.size() + kMembersOfSmallGroup - 1) / kMembersOfSmallGroup;
  return split_evenly(members, num_chunks, kMembersOfSmallGroup);
}

// Follows the machine's tree down from `depth` until every group is small enough, or the tree ends.
void GatherForest::collect_sub_units(const Members& members, int depth, std::vector<Members>& groups) const {
  for (auto begin = members.begin(); begin != members.end();) {
    const int unit = paths_[*begin].unit_at_depth(depth);
    const auto end = std::find_if(begin, members.end(), [&](std::uint32_t m) { return paths_[m].unit_at_depth(depth) != unit; });
    Members group(begin, end);
    if (unit >= 0 && group.size() > kMaxGroupMembers) {
      collect_sub_units(group, depth + 1, groups);
    } else {
      groups.push_back(std::move(group));
    }
    begin = end;
  }
}

std::vector<Members> GatherForest::split_evenly(const Members& members, std::size_t num_parts, std::size_t max_part_size) const {
  const std::size_t size = members.size();
  const std::size_t slack = std::max<std::size_t>(1, size / num_parts / 4);
  std::vector<Members> parts;
  std::size_t begin = 0;
  for (std::size_t part = 1; part <= num_parts; ++part) {
    const std::size_t parts_after = num_parts - part;
    const std::size_t needed = parts_after * max_part_size;  // room in the parts after this one
    const std::size_t lowest = std::max(begin + 1, size > needed ? size - needed : 0);
    const std::size_t highest = std::min(begin + max_part_size, size - parts_after);
    const std::size_t ideal = std::clamp(part * size / num_parts, lowest, highest);
    const std::size_t end =
        best_cut(members, ideal, std::max(lowest, ideal - std::min(ideal, slack)), std::min(highest, ideal + slack));
    parts.emplace_back(members.begin() + static_cast<std::ptrdiff_t>(begin), members.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
  return parts;
}

// The cut in [first, last] between the two members that share the least. Of equal ones it is the
// nearest to `ideal`, then the lower.
std::size_t GatherForest::best_cut(const Members& members, std::size_t ideal, std::size_t first, std::size_t last) const {
  const auto cost = [&](std::size_t cut) {
    const int shared =
        cut == members.size() ? -1 : shared_depth(machine_, paths_[members[cut - 1]].smallest(), paths_[members[cut]].smallest());
    return std::pair(shared, cut > ideal ? cut - ideal : ideal - cut);
  };
  std::size_t best = first;
  for (std::size_t cut = first + 1; cut <= last; ++cut) {
    if (cost(cut) < cost(best)) best = cut;
  }
  return best;
}

}  // namespace hierbar
