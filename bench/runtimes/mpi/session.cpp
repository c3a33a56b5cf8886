// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>
#include <string_view>

#include "bench/runtimes/mpi/bench.hpp"

namespace hierbar::bench::mpi {
namespace {

constexpr double kFloorBudgetMs = 60;
constexpr std::array<std::string_view, 4> kQuantities{"period", "isolated", "skew", "late"};
constexpr std::array<std::string_view, 2> kCrowdedQuantities{"loop", "elsewhere"};
constexpr std::array<std::string_view, 4> kFirstQuantities{"first", "cold", "allreduce", "init"};

class MpiSession : public Session<MpiConfiguration> {
 public:
  MpiSession(const MpiBenchOptions& options, const Host& host,
             const std::vector<MpiConfiguration>& configurations)
      : Session(MpiBenchOptions::kProgram, options, host, configurations),
        mpi_options_(options),
        random_(options.seed) {
    for (const int num_ranks : options.rank_counts) add_groups(num_ranks);
  }

 private:
  // The quantities depend on whether each rank has a cpu. With --first, they are those of set-up in
  // all cases. The first group has the floors.
  void add_groups(int num_ranks) {
    const bool oversubscribed = num_ranks > static_cast<int>(host_.cpus.size());
    const std::span<const std::string_view> quantities =
        mpi_options_.first ? std::span<const std::string_view>(kFirstQuantities)
        : oversubscribed   ? std::span<const std::string_view>(kCrowdedQuantities)
                           : std::span<const std::string_view>(kQuantities);
    std::vector<Group> groups;
    for (const std::string_view quantity : quantities) {
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
    arguments.emplace_back(mpi_options_.first ? "--first" : group.bound ? "--alone" : "--crowded");
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
  std::mt19937_64 random_;
};

}  // namespace

Measurements measure(const MpiBenchOptions& options, const Host& host,
                     const std::vector<MpiConfiguration>& configurations) {
  return MpiSession(options, host, configurations).run();
}

}  // namespace hierbar::bench::mpi
