// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/common/report/report_json.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/trial/compare.hpp"
#include "plan/plan_text.hpp"

namespace hierbar::bench::model {
namespace {

// ---- the search ----

constexpr std::size_t kMaxLevels = 3;
constexpr std::uint32_t kMostLeaders = 32;

// A possible shape of a plan. Participants in topology order are gathered in groups of `groups[0]`,
// their leaders in groups of `groups[1]`, and so on. The leaders that are left exchange.
struct Shape {
  std::vector<std::uint32_t> groups;
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
};

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

// A candidate: a shape, or the automatic plan.
struct Candidate {
  std::string name;
  Costs costs;
  // Its cost divided by that of the best candidate, in the parameter set and metric in which this
  // is largest.
  double regret = 0;
};

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

// "4x8, 4 leaders, flags"
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

// All shapes with groups of powers of two, at most three levels, at most 32 leaders, and both kinds
// of release.
std::vector<Shape> possible_shapes(std::uint32_t num_participants) {
  std::vector<Shape> shapes;
  std::vector<std::uint32_t> groups;
  add_shapes(num_participants, groups, shapes);
  return shapes;
}

// The plan of a shape. The place of each participant's lines is taken from `engine`.
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

// Returns the automatic plan with both kinds of release first, then all shapes by regret.
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

// ---- the command ----

struct DesignOptions {
  CommonOptions common;
  std::uint32_t num_participants = 128;
  std::size_t num_shown = 15;
};

void print_row(const Candidate& candidate) {
  const Range period = range_of(candidate.costs.period);
  const Range isolated = range_of(candidate.costs.isolated);
  fmt::print("{:<34}{:>9.2f}{:>10.2f}{:>9.2f}\n", candidate.name, period.median / 1000,
             isolated.median / 1000, candidate.regret);
}

void design(const DesignOptions& options) {
  JsonOutput json(options.common.json_path);
  const ModelMachine machine = chosen_machine(options.common);
  const std::vector<Candidate> candidates = require(search_shapes(
      machine, chosen_mapping(options.common), options.num_participants, options.common.seed));
  if (options.common.json_path != "-") {
    fmt::print("{}: {} participants, map {}, {} shapes, {} parameter sets, seed {}\n{}\n\n",
               machine.title, options.num_participants, options.common.mapping,
               candidates.size() - 2, machine.sets.size(), options.common.seed, machine.provenance);
    fmt::print("{:<34}{:>9}{:>10}{:>9}\n", "us", "period", "isolated", "regret");
    for (std::size_t i = 0; i < std::min(candidates.size(), options.num_shown + 2); ++i)
      print_row(candidates[i]);
  }
  nlohmann::ordered_json report = start_report("hierbar-model-design-1", machine, options.common);
  report["participants"] = options.num_participants;
  for (const Candidate& candidate : candidates) {
    report["rows"].push_back({{"name", candidate.name},
                              {"regret", candidate.regret},
                              {"period", to_json(range_of(candidate.costs.period))},
                              {"isolated", to_json(range_of(candidate.costs.isolated))}});
  }
  json.write(report);
}

}  // namespace

void add_design_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("design", "Search the shapes that a plan could have on a machine");
  auto options = std::make_shared<DesignOptions>();
  add_machine_options(*command, options->common, kCalibratedMachine);
  command->add_option("--participants", options->num_participants, "Participants of the barrier")
      ->check(CLI::Range(2, 1024))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--show", options->num_shown, "How many shapes the table has")
      ->type_name("N")
      ->capture_default_str();
  add_mapping_option(*command, options->common);
  refuse_short_n(*command, "--participants");
  add_run_options(*command, options->common);
  command->footer(
      "A shape is written from the leaves up: `4x8, 4 leaders, flags` gathers groups of 4, then 8 "
      "of their leaders, and 4\n"
      "leaders exchange. Its regret is how many times slower it is than the best one, in the "
      "parameter set and by the\n"
      "metric where that is most; shapes whose regrets differ by less than a quarter cannot be "
      "told apart.\n"
      "\n"
      "Examples:\n"
      "  barrier_model design\n"
      "  barrier_model design --machine rome --participants 128\n");
  command->callback([options] { design(*options); });
}

}  // namespace hierbar::bench::model
