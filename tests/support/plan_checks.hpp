// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "plan/locality.hpp"
#include "plan/plan.h"
#include "plan/shape.hpp"
#include "topology/machine.hpp"

namespace hierbar::test {

inline constexpr Mapping kMappings[] = {Mapping::kCore, Mapping::kNuma, Mapping::kPackage,
                                        Mapping::kNone};
inline constexpr std::uint32_t kTeamSizes[] = {1, 2, 3, 4, 5, 7, 13, 16, 17, 33, 64, 100, 128, 257};

// The leader above each participant; fails when a participant reaches none.
inline std::vector<std::uint32_t> leaders_of(const hierbar_plan& plan) {
  std::vector<std::uint32_t> leaders(plan.num_participants);
  for (std::uint32_t i = 0; i < plan.num_participants; ++i) {
    std::uint32_t node = i;
    for (std::uint32_t step = 0; plan.nodes[node].parent != node && step <= plan.num_participants;
         ++step) {
      node = plan.nodes[node].parent;
    }
    EXPECT_EQ(plan.nodes[node].parent, node) << "participant " << i << " reaches no leader";
    leaders[i] = node;
  }
  return leaders;
}

// plan.h: everybody is in one crew, or nobody.
inline void check_crews(const hierbar_plan& plan) {
  std::map<std::uint32_t, std::uint32_t> sizes;
  for (std::uint32_t i = 0; i < plan.num_participants; ++i) ++sizes[plan.nodes[i].crew];
  if (plan.num_crews == 0) return;
  EXPECT_EQ(plan.num_crews, sizes.size());
  EXPECT_EQ(plan.num_leaders, plan.num_participants);
  for (std::uint32_t i = 0; i < plan.num_participants; ++i) {
    const hierbar_plan_node& node = plan.nodes[i];
    EXPECT_LE(node.crew, i);
    EXPECT_EQ(plan.nodes[node.crew].crew, node.crew);
    EXPECT_EQ(node.crew_size, sizes[node.crew]);
  }
}

// plan.h: the nodes are a forest, its roots are the leaders, children lie together and ascend.
inline void check_forest(const hierbar_plan& plan) {
  ASSERT_GE(plan.num_leaders, 1U);
  ASSERT_LE(plan.num_leaders, plan.num_crews != 0 ? plan.num_participants : kMaxLeaders);
  EXPECT_EQ(plan.leaders[0], 0U);
  std::set<std::uint32_t> roots;
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < plan.num_participants; ++i) {
    const hierbar_plan_node& node = plan.nodes[i];
    ASSERT_LT(node.parent, plan.num_participants);
    if (node.parent == i) roots.insert(i);
    ASSERT_LE(node.first_child + node.num_children, plan.num_participants - plan.num_leaders);
    for (std::uint32_t c = 0; c < node.num_children; ++c) {
      const std::uint32_t child = plan.children[node.first_child + c];
      EXPECT_EQ(plan.nodes[child].parent, i);
      EXPECT_GT(child, c == 0 ? i : plan.children[node.first_child + c - 1])
          << "the lowest index leads, children ascend";
      EXPECT_TRUE(seen.insert(child).second) << child << " has two places among the children";
    }
  }
  EXPECT_EQ(std::vector<std::uint32_t>(plan.leaders, plan.leaders + plan.num_leaders),
            std::vector<std::uint32_t>(roots.begin(), roots.end()));
  EXPECT_EQ(seen.size() + roots.size(), plan.num_participants)
      << "everybody is either a leader or a child";
  for (const std::uint32_t leader : leaders_of(plan)) EXPECT_TRUE(roots.count(leader) > 0);
}

inline std::uint32_t height_of(const hierbar_plan& plan, std::uint32_t participant) {
  std::uint32_t height = 0;
  const hierbar_plan_node& node = plan.nodes[participant];
  for (std::uint32_t c = 0; c < node.num_children; ++c) {
    height = std::max(height, 1 + height_of(plan, plan.children[node.first_child + c]));
  }
  return height;
}

inline void check_depth_and_arity(const hierbar_plan& plan) {
  std::uint32_t levels = 0;
  for (std::uint32_t i = 0; i < plan.num_leaders; ++i)
    levels = std::max(levels, height_of(plan, plan.leaders[i]));
  EXPECT_EQ(plan.depth, 2 * levels + (plan.num_leaders > 1 ? 1 : 0));
  for (std::uint32_t i = 0; i < plan.num_participants; ++i) {
    EXPECT_LE(plan.nodes[i].num_children, kMaxGroupMembers * (levels + 1)) << "participant " << i;
  }
}

// plan.h: slots of two NUMA nodes never share a page, and nobody shares a slot.
inline void check_slots(const hierbar_plan& plan, const Machine& machine,
                        const std::vector<LocalityPath>& paths, std::uint32_t page_bytes) {
  ASSERT_TRUE(std::has_single_bit(plan.line_bytes));
  EXPECT_GE(plan.line_bytes, std::max(128U, machine.line_bytes));
  const std::uint32_t slots_per_page = page_bytes / (HIERBAR_LINES_PER_SLOT * plan.line_bytes);
  std::set<std::uint32_t> slots;
  std::map<std::uint32_t, int> node_of_page;
  for (std::uint32_t i = 0; i < plan.num_participants; ++i) {
    EXPECT_LT(plan.nodes[i].slot, plan.num_slots);
    EXPECT_TRUE(slots.insert(plan.nodes[i].slot).second)
        << "slot " << plan.nodes[i].slot << " is used twice";
    const int node = enclosing_unit(machine, paths[i], Level::kNuma);
    const auto [position, is_new] =
        node_of_page.try_emplace(plan.nodes[i].slot / slots_per_page, node);
    if (plan.num_participants > kMaxAlwaysFlat) {
      EXPECT_EQ(position->second, node) << "two NUMA nodes share a page";
    }
  }
}

// A domain that is not cut because of its size or of its share of the participants stays below one
// leader, and its slots are adjacent.
inline void check_domains(const hierbar_plan& plan, const Machine& machine,
                          const std::vector<LocalityPath>& paths, const ShapeOptions& options) {
  const std::vector<Domain> domains =
      partition_into_domains(machine, paths, domain_level(machine, options.domain_level));
  const std::vector<std::uint32_t> leaders = leaders_of(plan);
  const bool is_oversubscribed = options.num_cpus != 0 && plan.num_participants > options.num_cpus;
  const bool is_as_wanted = is_oversubscribed || options.domain_level;
  if (plan.num_participants <= (is_as_wanted ? kMaxAlwaysFlat : kMaxFlatTeam) ||
      domains.size() == 1)
    return;
  for (const Domain& domain : domains) {
    const std::size_t size = domain.members.size();
    if (is_as_wanted ? size > kMaxDomainMembers
                     : 2 * size * kManyLeaders >= 3 * plan.num_participants)
      continue;
    std::set<std::uint32_t> leaders_of_domain;
    std::set<int> nodes;
    std::set<std::uint32_t> slots;
    for (const std::uint32_t member : domain.members) {
      leaders_of_domain.insert(leaders[member]);
      nodes.insert(enclosing_unit(machine, paths[member], Level::kNuma));
      slots.insert(plan.nodes[member].slot);
    }
    EXPECT_EQ(leaders_of_domain.size(), 1U) << "a domain is torn apart";
    if (nodes.size() == 1) {
      EXPECT_EQ(*slots.rbegin() - *slots.begin() + 1, domain.members.size())
          << "slots of a domain are apart";
    }
  }
}

inline void check_same(const hierbar_plan& a, const hierbar_plan& b) {
  ASSERT_EQ(a.num_participants, b.num_participants);
  for (std::uint32_t i = 0; i < a.num_participants; ++i) {
    EXPECT_EQ(a.nodes[i].parent, b.nodes[i].parent);
    EXPECT_EQ(a.nodes[i].slot, b.nodes[i].slot);
  }
  EXPECT_EQ(a.num_slots, b.num_slots);
}

// Every property that plans promise, for one machine under all mappings and team sizes.
inline void check_plans_of(const Machine& machine, const ShapeOptions& options = {}) {
  for (const Mapping mapping : kMappings) {
    for (const std::uint32_t num_participants : kTeamSizes) {
      SCOPED_TRACE(machine.name + ", mapping " + std::to_string(static_cast<int>(mapping)) + ", " +
                   std::to_string(num_participants) + " participants");
      const auto bindings = map_participants(machine, mapping, num_participants);
      ASSERT_TRUE(bindings);
      const std::vector<LocalityPath> paths = locate_all(machine, *bindings);
      const auto plan = build_engine_plan(paths, machine, options);
      ASSERT_TRUE(plan);
      const hierbar_plan view = plan->view();
      ASSERT_EQ(view.num_participants, num_participants);
      check_forest(view);
      check_crews(view);
      check_depth_and_arity(view);
      check_slots(view, machine, paths, options.page_bytes);
      check_domains(view, machine, paths, options);
      const auto again = build_engine_plan(paths, machine, options);
      ASSERT_TRUE(again);
      check_same(view, again->view());
      if (::testing::Test::HasFailure()) return;  // one failing plan says enough
    }
  }
}

}  // namespace hierbar::test
