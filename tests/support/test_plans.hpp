// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace hierbar::test {

// A hand-made plan that owns its arrays. Independent of runtime/plan, so that the barrier is tested
// on shapes which the planner would not choose, and on machines without hwloc.
class TestPlan {
 public:
  // parents[p] is p's parent; a leader's is p itself. Parents have lower numbers than their
  // children; 0 is a leader. `slots` says where each participant's lines are; empty: slot p.
  TestPlan(std::string name, std::vector<std::uint32_t> parents, hierbar_release_kind release,
           std::vector<std::uint32_t> slots = {}, std::uint32_t line_bytes = 64)
      : name_(std::move(name)) {
    const auto count = static_cast<std::uint32_t>(parents.size());
    if (slots.empty()) {
      slots.resize(count);
      std::iota(slots.begin(), slots.end(), 0U);
    }
    std::vector<std::uint32_t> heights(count, 0);
    std::uint32_t tallest = 0;
    for (std::uint32_t p = count; p-- > 0;) {
      if (parents[p] == p) continue;
      heights[parents[p]] = std::max(heights[parents[p]], heights[p] + 1);
    }
    std::uint32_t num_slots = 0;
    for (std::uint32_t p = 0; p < count; ++p) {
      hierbar_plan_node node{
          parents[p], static_cast<std::uint32_t>(children_.size()), 0, slots[p], 0, 0};
      for (std::uint32_t child = p + 1; child < count; ++child) {
        if (parents[child] == p) children_.push_back(child);
      }
      node.num_children = static_cast<std::uint32_t>(children_.size()) - node.first_child;
      nodes_.push_back(node);
      if (parents[p] == p) leaders_.push_back(p);
      tallest = std::max(tallest, heights[p]);
      num_slots = std::max(num_slots, slots[p] + 1);
    }
    const auto num_leaders = static_cast<std::uint32_t>(leaders_.size());
    const std::uint32_t depth = 2 * tallest + (num_leaders > 1 ? 1 : 0);
    plan_ = hierbar_plan{HIERBAR_PLAN_ABI_VERSION,
                         count,
                         num_leaders,
                         num_slots,
                         static_cast<std::uint32_t>(release),
                         line_bytes,
                         depth,
                         0,
                         0,
                         nullptr,
                         nullptr,
                         nullptr};
  }

  const std::string& name() const { return name_; }

  // Of a flat plan: `crews` says for each participant which crew it is in, by the lowest member.
  TestPlan& with_crews(const std::vector<std::uint32_t>& crews) {
    for (std::uint32_t p = 0; p < nodes_.size(); ++p) {
      nodes_[p].crew = crews[p];
      nodes_[p].crew_size =
          static_cast<std::uint32_t>(std::count(crews.begin(), crews.end(), crews[p]));
      if (crews[p] == p) ++plan_.num_crews;
    }
    return *this;
  }

  // For GoogleTest's messages.
  friend void PrintTo(const TestPlan& plan, std::ostream* out) { *out << plan.name_; }

  // Valid while this object lives and stays where it is.
  hierbar_plan view() const {
    hierbar_plan plan = plan_;
    plan.nodes = nodes_.data();
    plan.children = children_.data();
    plan.leaders = leaders_.data();
    return plan;
  }

 private:
  std::string name_;
  std::vector<hierbar_plan_node> nodes_;
  std::vector<std::uint32_t> children_;
  std::vector<std::uint32_t> leaders_;
  hierbar_plan plan_{};
};

// Which participants a domain has.
enum class Numbering {
  kBlocks,  // neighbours: 0 1 2 | 3 4 5
  kRound,   // dealt out in turn, as `map-by numa` does: 0 2 4 | 1 3 5
};

struct ForestShape {
  std::vector<std::uint32_t> domain_sizes;  // each at least 1
  std::uint32_t arity = 2;                  // fan-in of the tree inside a domain
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
  Numbering numbering = Numbering::kBlocks;
  std::uint32_t domains_per_group =
      1;  // more than 1: one more level, the leaders of so many domains gather to one of them
};

// Everybody leads: one exchange.
inline TestPlan make_flat(std::uint32_t num_participants) {
  std::vector<std::uint32_t> parents(num_participants);
  std::iota(parents.begin(), parents.end(), 0U);
  return TestPlan("flat_" + std::to_string(num_participants), std::move(parents),
                  HIERBAR_RELEASE_FLAGS);
}

// The same, dealt out in turn to so many crews.
inline TestPlan make_crews(std::uint32_t num_participants, std::uint32_t num_crews) {
  std::vector<std::uint32_t> parents(num_participants);
  std::iota(parents.begin(), parents.end(), 0U);
  TestPlan plan("crews_" + std::to_string(num_participants) + "_in_" + std::to_string(num_crews),
                parents, HIERBAR_RELEASE_FLAGS);
  for (std::uint32_t& crew : parents) crew %= num_crews;
  return plan.with_crews(parents);
}

// The members of each domain, ascending; the domains are in the order of their lowest members.
inline std::vector<std::vector<std::uint32_t>> members_of_domains(const ForestShape& shape) {
  std::vector<std::vector<std::uint32_t>> domains(shape.domain_sizes.size());
  const std::uint32_t total =
      std::accumulate(shape.domain_sizes.begin(), shape.domain_sizes.end(), 0U);
  std::size_t domain = 0;
  for (std::uint32_t p = 0; p < total; ++p) {
    while (domains[domain].size() == shape.domain_sizes[domain])
      domain = (domain + 1) % domains.size();
    domains[domain].push_back(p);
    if (shape.numbering == Numbering::kRound) domain = (domain + 1) % domains.size();
  }
  return domains;
}

// Domains with a gather tree each. One slot stays empty behind every domain, as a planner leaves
// gaps to begin a new page.
inline TestPlan make_forest(std::string name, const ForestShape& shape) {
  const auto domains = members_of_domains(shape);
  const std::uint32_t total =
      std::accumulate(shape.domain_sizes.begin(), shape.domain_sizes.end(), 0U);
  std::vector<std::uint32_t> parents(total);
  std::vector<std::uint32_t> slots(total);
  std::uint32_t next_slot = 0;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    const auto& members = domains[d];
    const std::size_t group_head = d - d % shape.domains_per_group;
    parents[members[0]] = domains[group_head][0];
    slots[members[0]] = next_slot++;
    for (std::size_t i = 1; i < members.size(); ++i) {
      parents[members[i]] = members[(i - 1) / shape.arity];
      slots[members[i]] = next_slot++;
    }
    ++next_slot;
  }
  return TestPlan(std::move(name), std::move(parents), shape.release, std::move(slots));
}

// A plan as pass_on() reads it.
struct PlanShape {
  hierbar_plan plan;
  const hierbar_plan_node& node(std::uint32_t participant) const { return plan.nodes[participant]; }
  std::uint32_t child(const hierbar_plan_node& parent, std::uint32_t i) const {
    return plan.children[parent.first_child + i];
  }
  std::uint32_t num_leaders() const { return plan.num_leaders; }
  std::uint32_t leader(std::uint32_t i) const { return plan.leaders[i]; }
};

// Queues of every length: flat plans, single domains, many domains, chains, groups of leaders.
inline std::vector<TestPlan> pass_on_plans() {
  constexpr auto kFlags = HIERBAR_RELEASE_FLAGS;
  std::vector<TestPlan> plans;
  for (std::uint32_t count = 1; count <= 24; ++count) plans.push_back(make_flat(count));
  for (const std::uint32_t count : {64U, 256U}) plans.push_back(make_flat(count));
  for (const std::uint32_t count : {8U, 16U}) plans.push_back(make_crews(count, 2));
  for (const std::uint32_t members : {1U, 4U, 5U, 15U, 20U, 21U}) {
    plans.push_back(
        make_forest("star_" + std::to_string(members), {{members + 1}, members, kFlags}));
  }
  plans.push_back(make_forest("chain_9", {{9}, 1, kFlags}));
  plans.push_back(make_forest("binary_64", {{64}, 2, kFlags}));
  plans.push_back(make_forest("domains_8x16", {std::vector<std::uint32_t>(8, 16), 15, kFlags}));
  plans.push_back(make_forest("domains_16x16", {std::vector<std::uint32_t>(16, 16), 15, kFlags}));
  plans.push_back(make_forest("domains_16x16_round",
                              {std::vector<std::uint32_t>(16, 16), 15, kFlags, Numbering::kRound}));
  plans.push_back(make_forest("domains_uneven", {{1, 7, 30, 2, 1, 19}, 6, kFlags}));
  plans.push_back(make_forest(
      "groups_64", {std::vector<std::uint32_t>(32, 2), 2, kFlags, Numbering::kBlocks, 8}));
  plans.push_back(make_forest(
      "groups_256", {std::vector<std::uint32_t>(32, 8), 7, kFlags, Numbering::kRound, 8}));
  return plans;
}

}  // namespace hierbar::test
