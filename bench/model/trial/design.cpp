// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/trial/design.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "plan/export/plan_text.hpp"

namespace hierbar::bench::model {
namespace {

constexpr std::size_t kMaxLevels = 3;
constexpr std::uint32_t kMostLeaders = 32;

void add_shapes(std::uint32_t num_left, std::vector<std::uint32_t>& groups,
                std::vector<Shape>& shapes) {
  if (num_left <= kMostLeaders) {
    shapes.push_back(Shape{groups, HIERBAR_RELEASE_FLAGS});
    if (!groups.empty()) shapes.push_back(Shape{groups, HIERBAR_RELEASE_LINES});
  }
  if (groups.size() == kMaxLevels) return;
  for (std::uint32_t size = 2; size <= num_left; size *= 2) {
    groups.push_back(size);
    add_shapes((num_left + size - 1) / size, groups, shapes);
    groups.pop_back();
  }
}

// Participants in the order of the units that they share, as the machine's units are numbered.
std::vector<std::uint32_t> topology_order(const Scenario& scenario) {
  std::vector<std::uint32_t> order(scenario.paths().size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return scenario.paths()[a].smallest() < scenario.paths()[b].smallest();
  });
  return order;
}

void set_regrets(std::vector<Candidate>& candidates, std::size_t num_sets) {
  for (const auto figures : {&Costs::period, &Costs::isolated}) {
    for (std::size_t set = 0; set < num_sets; ++set) {
      double best = (candidates.front().costs.*figures)[set];
      for (const Candidate& candidate : candidates)
        best = std::min(best, (candidate.costs.*figures)[set]);
      for (Candidate& candidate : candidates) {
        candidate.regret = std::max(candidate.regret, (candidate.costs.*figures)[set] / best);
      }
    }
  }
}

}  // namespace

std::string shape_name(const Shape& shape, std::uint32_t num_participants) {
  std::string name;
  std::uint32_t num_leaders = num_participants;
  for (const std::uint32_t size : shape.groups) {
    name += (name.empty() ? "" : "x") + std::to_string(size);
    num_leaders = (num_leaders + size - 1) / size;
  }
  if (name.empty()) name = "flat";
  return name + ", " + std::to_string(num_leaders) +
         (num_leaders == 1 ? " leader, " : " leaders, ") + release_name(shape.release);
}

std::vector<Shape> possible_shapes(std::uint32_t num_participants) {
  std::vector<Shape> shapes;
  std::vector<std::uint32_t> groups;
  add_shapes(num_participants, groups, shapes);
  return shapes;
}

EnginePlan shaped_plan(const Scenario& scenario, const Shape& shape, const EnginePlan& engine) {
  EnginePlan plan = engine;
  plan.release = shape.release;
  plan.children.clear();
  plan.depth = static_cast<std::uint32_t>(2 * shape.groups.size() + 1);
  std::vector<std::vector<std::uint32_t>> children(plan.nodes.size());
  std::vector<std::uint32_t> members = topology_order(scenario);
  for (const std::uint32_t size : shape.groups) {
    std::vector<std::uint32_t> leaders;
    for (std::size_t begin = 0; begin < members.size(); begin += size) {
      const auto first = members.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = members.begin() + static_cast<std::ptrdiff_t>(
                                              std::min<std::size_t>(begin + size, members.size()));
      const std::uint32_t leader = *std::min_element(first, last);
      std::copy_if(first, last, std::back_inserter(children[leader]),
                   [leader](std::uint32_t m) { return m != leader; });
      leaders.push_back(leader);
    }
    members = std::move(leaders);
  }
  std::sort(members.begin(), members.end());
  plan.leaders = members;
  for (const std::uint32_t leader : members) plan.nodes[leader].parent = leader;
  for (std::uint32_t i = 0; i < plan.nodes.size(); ++i) {
    std::sort(children[i].begin(), children[i].end());
    plan.nodes[i].first_child = static_cast<std::uint32_t>(plan.children.size());
    plan.nodes[i].num_children = static_cast<std::uint32_t>(children[i].size());
    plan.children.insert(plan.children.end(), children[i].begin(), children[i].end());
    for (const std::uint32_t child : children[i]) plan.nodes[child].parent = i;
  }
  return plan;
}

Result<std::vector<Candidate>> search_shapes(const ModelMachine& machine, Mapping mapping,
                                             std::uint32_t num_participants, std::uint64_t seed) {
  constexpr Episodes kEpisodes{.warm_up = 2, .measured = 5};
  Result<Scenario> scenario = Scenario::make(machine.machine, mapping, num_participants);
  if (!scenario) return Error{scenario.error()};
  std::vector<Candidate> candidates;
  const auto add = [&](std::string name, const EnginePlan& plan) -> std::string {
    Result<Costs> costs = cost_of(*scenario, Algorithm::kHier, plan, machine.sets, seed, kEpisodes);
    if (!costs) return name + ": " + costs.error();
    candidates.push_back({std::move(name), *std::move(costs)});
    return {};
  };
  const EnginePlan automatic = scenario->engine_plan();
  std::string problem = add("the automatic plan, flags", automatic);
  if (problem.empty())
    problem = add("the automatic plan, lines", scenario->engine_plan(HIERBAR_RELEASE_LINES));
  for (const Shape& shape : possible_shapes(num_participants)) {
    if (problem.empty())
      problem = add(shape_name(shape, num_participants), shaped_plan(*scenario, shape, automatic));
  }
  if (!problem.empty()) return Error{problem};
  set_regrets(candidates, machine.sets.size());
  std::stable_sort(candidates.begin() + 2, candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.regret < b.regret; });
  return candidates;
}

}  // namespace hierbar::bench::model
