// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/group_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hierbar {
namespace {

// For each participant: the members of the groups that it leads below TOP, without itself.
std::vector<std::vector<std::uint32_t>> led_members(const GroupTree& tree, std::size_t num_participants) {
  std::vector<std::vector<std::uint32_t>> led(num_participants);
  for (std::size_t level = 0; level + 1 < tree.levels.size(); ++level) {
    for (const Group& group : tree.levels[level].groups) {
      std::vector<std::uint32_t>& members = led[group.leader()];
      members.insert(members.end(), group.members.begin() + 1, group.members.end());
    }
  }
  return led;
}

}  // namespace

Result<EnginePlan> build_group_plan(const GroupTree& tree, const EnginePlan& engine) {
  if (!tree.stepped_aside.empty()) return Error{tree.stepped_aside};
  EnginePlan plan = engine;
  plan.depth = tree.depth;
  plan.num_crews = 0;
  plan.leaders = tree.levels.back().groups.front().members;
  plan.children.clear();
  for (const std::uint32_t leader : plan.leaders) plan.nodes[leader].parent = leader;
  const auto led = led_members(tree, plan.nodes.size());
  for (std::uint32_t i = 0; i < plan.nodes.size(); ++i) {
    plan.nodes[i].first_child = static_cast<std::uint32_t>(plan.children.size());
    plan.nodes[i].num_children = static_cast<std::uint32_t>(led[i].size());
    plan.children.insert(plan.children.end(), led[i].begin(), led[i].end());
    for (const std::uint32_t child : led[i]) plan.nodes[child].parent = i;
  }
  return plan;
}

}  // namespace hierbar
