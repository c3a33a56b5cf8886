// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/runtimes/mpi/bench.hpp"

namespace hierbar::bench::mpi {
namespace {

constexpr double kFloorBudgetMs = 60;
constexpr std::array<std::string_view, 4> kQuantities{"period", "isolated", "skew", "late"};
constexpr std::array<std::string_view, 2> kCrowdedQuantities{"loop", "elsewhere"};
constexpr std::array<std::string_view, 4> kFirstQuantities{"first", "cold", "allreduce", "init"};

// What one launch measures, and the worker's options that say so.
struct LaunchFigures {
  std::vector<std::string> quantities;
  std::vector<std::string> arguments;
};
using FiguresOf = std::function<LaunchFigures(bool is_bound)>;

class MpiSession : public Session<MpiConfiguration> {
 public:
  MpiSession(const char* program, const MpiBenchOptions& options, const Host& host,
             const std::vector<MpiConfiguration>& configurations, FiguresOf figures)
      : Session(program, options, host, configurations),
        mpi_options_(options),
        figures_(std::move(figures)),
        random_(options.seed) {
    for (const int num_ranks : options.rank_counts) add_groups(num_ranks);
  }

 private:
  // The quantities may depend on whether each rank has a cpu. The first group has the floors.
  void add_groups(int num_ranks) {
    const bool oversubscribed = num_ranks > static_cast<int>(host_.cpus.size());
    std::vector<Group> groups;
    for (const std::string& quantity : figures_(!oversubscribed).quantities) {
      Group group = new_group(num_ranks, quantity);
      group.participant = "rank";
      group.bound = !oversubscribed;
      const auto hier = std::find_if(group.series.begin(), group.series.end(),
                                     [](const Series& series) { return series.name == "hier"; });
      if (group.bound && hier != group.series.end())
        group.series.insert(hier + 1, {std::string(kInside), Family::kMpich, "", {}});
      groups.push_back(std::move(group));
    }
    std::string description = participants_text(groups.front());
    add_part(std::move(description), std::move(groups));
  }

  void order(Turns& turns, int) override { std::shuffle(turns.begin(), turns.end(), random_); }

  void measure_floors(const Part& part, int repetition) override {
    if (!mpi_options_.first)
      floors_.measure_exchange(groups_of(part).front(), repetition, kFloorBudgetMs);
  }

  void measure_configuration(const Part& part, const MpiConfiguration& configuration,
                             int repetition) override {
    const Group& group = groups_of(part).front();
    const bool inside = configuration.name == "hier" && group.bound;
    std::vector<std::string> arguments{"--budget-ms", fmt::format("{}", options_.budget_ms),
                                       "--limit-s",
                                       fmt::format("{:.0f}", std::ceil(options_.timeout_s) + 1)};
    if (inside) arguments.emplace_back("--inside");
    for (const std::string& argument : figures_(group.bound).arguments)
      arguments.push_back(argument);
    const auto command =
        launch_command(configuration, group.num_participants, group.bound, arguments);
    const ChildResult result = run_child(command, {}, timeout_);
    const auto answer = parse_answer(result.output);
    const std::string failure = !result.failure.empty() ? result.failure
                                : !answer               ? "its answer cannot be read"
                                          : mismatch(configuration, *answer, group.bound);
    record(part, configuration.name, configuration.family, repetition,
           {failure, answer ? answer->program : Answer::Figures()});
    if (inside)
      record(part, std::string(kInside), Family::kMpich, repetition,
             {failure, answer ? answer->own : Answer::Figures()});
  }

  const MpiBenchOptions& mpi_options_;
  const FiguresOf figures_;
  std::mt19937_64 random_;
};

std::vector<std::string> strings(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

}  // namespace

// With --first, the quantities are those of set-up in all cases.
Measurements measure(const MpiBenchOptions& options, const Host& host,
                     const std::vector<MpiConfiguration>& configurations) {
  const auto figures = [&options](bool is_bound) -> LaunchFigures {
    if (options.first) return {strings(kFirstQuantities), {"--first"}};
    if (is_bound) return {strings(kQuantities), {"--alone"}};
    return {strings(kCrowdedQuantities), {"--crowded"}};
  };
  return MpiSession(options.kProgram, options, host, configurations, figures).run();
}

Measurements measure(const CollectiveBenchOptions& options, const Host& host,
                     const std::vector<MpiConfiguration>& configurations) {
  const auto figures = [&options](bool is_bound) {
    LaunchFigures all{options.quantities(), {"--collectives"}};
    all.arguments.push_back(fmt::format("{}", fmt::join(all.quantities, ",")));
    all.quantities.emplace(all.quantities.begin(), kBarrierQuantity);
    if (!is_bound) all.arguments.emplace_back("--crowded");
    return all;
  };
  return MpiSession(options.kProgram, options, host, configurations, figures).run();
}

}  // namespace hierbar::bench::mpi
