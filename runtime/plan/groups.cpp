// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/groups.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "base/levels.h"

namespace hierbar {
namespace {

// Why the paper's algorithm cannot group these participants; empty if it can.
std::string reason_to_step_aside(const std::vector<LocalityPath>& paths, const Machine& machine,
                                 const std::vector<Level>& levels) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i].bound)
      return "participant " + std::to_string(i) +
             " is not bound to cpus, so nothing is known about what it shares";
    const bool located =
        levels.empty() || std::any_of(levels.begin(), levels.end(), [&](Level level) {
          return enclosing_unit(machine, paths[i], level) >= 0;
        });
    if (!located)
      return "participant " + std::to_string(i) + " is bound more widely than every active level";
  }
  return {};
}

// Steps 1 and 2 for one level. Members are ascending, so groups ascend by leader and inside.
GroupLevel group_by_level(const std::vector<std::uint32_t>& members,
                          const std::vector<LocalityPath>& paths, const Machine& machine,
                          Level level) {
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
    return std::any_of(level.groups.begin(), level.groups.end(),
                       [](const Group& group) { return group.members.size() > 1; });
  };
  const auto num_gathering =
      static_cast<std::uint32_t>(std::count_if(tree.levels.begin(), tree.levels.end(), gathers));
  return num_gathering == 0 ? 0 : num_gathering + 1;
}

}  // namespace

GroupTree build_group_tree(const std::vector<LocalityPath>& paths, const Machine& machine,
                           const std::vector<Level>& levels) {
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

namespace {

// For each participant: the members of the groups that it leads below TOP, without itself.
std::vector<std::vector<std::uint32_t>> led_members(const GroupTree& tree,
                                                    std::size_t num_participants) {
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

namespace {

// The smallest unit that holds all that were added, and its name.
class CommonUnit {
 public:
  CommonUnit(const Machine& machine, const LocalityPath& first) : machine_(machine) { add(first); }

  void add(const LocalityPath& path) {
    known_ = known_ && path.bound;
    if (!known_) return;
    if (unit_ < 0) unit_ = path.smallest();
    const int depth = shared_depth(machine_, unit_, path.smallest());
    while (machine_.units[static_cast<std::size_t>(unit_)].depth > depth) up();
  }
  // The name of the unit. Of several names it is the lowest level's: threads that share an L3 are
  // reported as such, and not as sharing a package.
  std::uint8_t code() {
    if (!known_) return HIERBAR_UNIT_UNKNOWN;
    while (labels() == 0) up();
    return static_cast<std::uint8_t>(unit_of(static_cast<Level>(std::countr_zero(labels()))));
  }

 private:
  std::uint32_t labels() const { return machine_.units[static_cast<std::size_t>(unit_)].labels; }
  void up() { unit_ = machine_.units[static_cast<std::size_t>(unit_)].parent; }

  const Machine& machine_;
  int unit_ = -1;
  bool known_ = true;
};

}  // namespace

GroupUnits find_group_units(const hierbar_plan& plan, const Machine& machine,
                            const std::vector<LocalityPath>& paths) {
  GroupUnits units;
  units.gather.resize(plan.num_participants, HIERBAR_UNIT_UNKNOWN);
  for (std::uint32_t i = 0; i < plan.num_participants; ++i) {
    const hierbar_plan_node& node = plan.nodes[i];
    if (node.num_children == 0) continue;
    CommonUnit common(machine, paths[i]);
    for (std::uint32_t k = 0; k < node.num_children; ++k)
      common.add(paths[plan.children[node.first_child + k]]);
    units.gather[i] = common.code();
  }
  CommonUnit common(machine, paths[plan.leaders[0]]);
  for (std::uint32_t k = 1; k < plan.num_leaders; ++k) common.add(paths[plan.leaders[k]]);
  units.exchange = common.code();
  return units;
}

}  // namespace hierbar
