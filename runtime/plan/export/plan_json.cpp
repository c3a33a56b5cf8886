// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/export/plan_json.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plan/export/plan_text.hpp"
#include "plan/shape.hpp"

namespace hierbar {

using nlohmann::ordered_json;

ordered_json to_json(const GroupTree& tree) {
  ordered_json levels = ordered_json::array();
  for (std::size_t i = 0; i < tree.levels.size(); ++i) {
    ordered_json groups = ordered_json::array();
    for (const Group& group : tree.levels[i].groups) {
      groups.push_back(ordered_json{{"leader", group.leader()}, {"members", group.members}});
    }
    levels.push_back(ordered_json{{"name", group_level_number(i)},
                                  {"level", group_level_name(tree.levels[i])},
                                  {"groups", std::move(groups)}});
  }
  ordered_json json{
      {"depth", tree.depth}, {"stepped_aside", nullptr}, {"levels", std::move(levels)}};
  if (!tree.stepped_aside.empty()) json["stepped_aside"] = tree.stepped_aside;
  return json;
}

ordered_json to_json(const hierbar_plan& plan) {
  ordered_json gather = ordered_json::object();
  for (const auto& [num_children, num_parents] : gather_arities(plan))
    gather[std::to_string(num_children)] = num_parents;
  ordered_json participants = ordered_json::array();
  for (std::uint32_t i = 0; i < plan.num_participants; ++i) {
    const hierbar_plan_node& node = plan.nodes[i];
    const std::uint32_t* first = plan.children + node.first_child;
    participants.push_back(
        ordered_json{{"parent", node.parent},
                     {"children", std::vector<std::uint32_t>(first, first + node.num_children)},
                     {"slot", node.slot}});
  }
  return ordered_json{
      {"depth", plan.depth},
      {"gather_levels", num_gather_levels(plan)},
      {"release", release_name(plan.release)},
      {"leaders", std::vector<std::uint32_t>(plan.leaders, plan.leaders + plan.num_leaders)},
      {"crews", crews_of(plan)},
      {"arities", {{"exchange", plan.num_leaders}, {"gather", std::move(gather)}}},
      {"line_bytes", plan.line_bytes},
      {"lines_per_slot", HIERBAR_LINES_PER_SLOT},
      {"num_slots", plan.num_slots},
      {"participants", std::move(participants)}};
}

}  // namespace hierbar
