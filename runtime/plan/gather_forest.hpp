// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/locality.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// Participants by index. Functions that get them in topology order keep that order.
using Members = std::vector<std::uint32_t>;

// A group that is one line transfer deep has at most this many members, with its leader. A larger
// one is worth a second level, of groups of kMembersOfSmallGroup where the machine has no smaller
// units. In the coherence model 16 in one group beat 4x4 by 9 to 16 % inside one L3, and 4x8 beats
// 32 in one group by as much (docs/design/model.md#d0064).
inline constexpr std::size_t kMaxGroupMembers = 16;
inline constexpr std::size_t kMembersOfSmallGroup = 8;

// The forest along which arrivals are gathered. At first everybody is a root. Each join() makes one
// tree of some roots. The root of a tree is always its lowest index.
class GatherForest {
 public:
  // Both must outlive the forest.
  GatherForest(const Machine& machine, const std::vector<LocalityPath>& paths);

  // Joins these roots, one at least and in topology order, into one tree, and returns its root. The
  // tree has as few levels as possible. Where the machine has units of at most kMaxGroupMembers
  // members (cores with SMT, clusters, shared L2 caches), these are the groups of the lowest level.
  std::uint32_t join(Members members);

  // Cuts `members`, given in topology order, into contiguous parts of at most max_part_size. The
  // parts are about equal. Of the cuts near the even ones it takes the one that separates the
  // least: members of one core stay together before members of one cluster do.
  // Requires 1 <= num_parts <= members.size() <= num_parts * max_part_size.
  std::vector<Members> split_evenly(const Members& members, std::size_t num_parts, std::size_t max_part_size) const;

  // The parent of each participant; a root's is its own index.
  const std::vector<std::uint32_t>& parents() const { return parents_; }

 private:
  std::vector<Members> lowest_groups(const Members& members) const;
  void collect_sub_units(const Members& members, int depth, std::vector<Members>& groups) const;
  std::size_t best_cut(const Members& members, std::size_t ideal, std::size_t first, std::size_t last) const;

  const Machine& machine_;
  const std::vector<LocalityPath>& paths_;
  std::vector<std::uint32_t> parents_;
};

}  // namespace hierbar
