// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/group_tree.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace hierbar {
namespace {

// Why the paper's algorithm cannot group these participants; empty if it can.
std::string reason_to_step_aside(const std::vector<LocalityPath>& paths, const Machine& machine,
                                 const std::vector<Level>& levels) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i].bound)
      return "participant " + std::to_string(i) + " is not bound to cpus, so nothing is known about what it shares";
    const bool located = levels.empty() || std::any_of(levels.begin(), levels.end(), [&](Level level) {
                           return enclosing_unit(machine, paths[i], level) >= 0;
                         });
    if (!located) return "participant " + std::to_string(i) + " is bound more widely than every active level";
  }
  return {};
}

// Steps 1 and 2 for one level. Members are ascending, so groups ascend by leader and inside.
GroupLevel group_by_level(const std::vector<std::uint32_t>& members, const std::vector<LocalityPath>& paths,
                          const Machine& machine, Level level) {
  GroupLevel result{level, {}};
  std::unordered_map<int, std::size_t> group_of_unit;
  for (const std::uint32_t member : members) {
    const int unit = enclosing_unit(machine, paths[member], level);
    const std::size_t next = result.groups.size();
    const std::size_t group = unit < 0 ? next : group_of_unit.try_emplace(unit, next).first->second;
    if (group == next) result.groups.emplace_back();
    result.groups[group].members.push_back(member);
  }
  return result;
}

std::uint32_t line_transfers(const GroupTree& tree) {
  const auto gathers = [](const GroupLevel& level) {
    return std::any_of(level.groups.begin(), level.groups.end(), [](const Group& group) { return group.members.size() > 1; });
  };
  const auto num_gathering = static_cast<std::uint32_t>(std::count_if(tree.levels.begin(), tree.levels.end(), gathers));
  return num_gathering == 0 ? 0 : num_gathering + 1;
}

}  // namespace

GroupTree build_group_tree(const std::vector<LocalityPath>& paths, const Machine& machine, const std::vector<Level>& levels) {
  GroupTree tree;
  tree.stepped_aside = reason_to_step_aside(paths, machine, levels);
  if (paths.empty() || !tree.stepped_aside.empty()) return tree;

  std::vector<std::uint32_t> members(paths.size());
  std::iota(members.begin(), members.end(), 0U);
  for (const Level level : levels) {
    tree.levels.push_back(group_by_level(members, paths, machine, level));
    members.clear();
    for (const Group& group : tree.levels.back().groups) members.push_back(group.leader());
  }
  tree.levels.push_back(GroupLevel{std::nullopt, {Group{members}}});  // step 3
  tree.depth = line_transfers(tree);
  return tree;
}

}  // namespace hierbar
