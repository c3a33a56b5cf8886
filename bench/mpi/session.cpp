// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/mpi/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <random>
#include <span>
#include <string_view>

#include "bench/common/child_process.hpp"
#include "bench/common/course.hpp"
#include "bench/common/floors/floor_runner.hpp"
#include "bench/mpi/answer.hpp"

namespace hierbar::bench::mpi {
namespace {

constexpr double kFloorBudgetMs = 60;
constexpr std::array<std::string_view, 4> kQuantities{"period", "isolated", "skew", "late"};
constexpr std::array<std::string_view, 2> kCrowdedQuantities{"loop", "elsewhere"};
constexpr std::array<std::string_view, 4> kFirstQuantities{"first", "cold", "allreduce", "init"};

// The groups of one number of ranks. Their quantities depend on whether each rank has a cpu. With
// --first, they are the quantities of set-up in all cases. The first group has the floors.
struct RankCount {
  int num_ranks = 0;
  std::size_t first = 0;  // index of its first group
  std::size_t count = 0;
};

class Session {
 public:
  Session(const MpiBenchOptions& options, const Host& host, const std::vector<Configuration>& configurations)
      : options_(options),
        host_(host),
        configurations_(configurations),
        floors_("mpi_barrier_bench", options.libexec_dir / "floor_worker", host, timeout()),
        random_(options.seed) {
    for (const int num_ranks : options.rank_counts) add_groups(num_ranks);
  }

  Measurements run() {
    std::vector<CoursePart> parts;
    for (const RankCount& ranks : rank_counts_) {
      parts.push_back({participants_text(first_of(ranks)),
                       [this, &ranks](int repetition) { return measure_block(ranks, repetition); },
                       [this, &ranks] { return settle_all(ranks); }});
    }
    run_course(options_, [this] { last_one_way_ns_ = measure_one_way(); }, parts, results_);
    return std::move(results_);
  }

 private:
  void add_groups(int num_ranks) {
    const bool oversubscribed = num_ranks > static_cast<int>(host_.cpus.size());
    const std::span<const std::string_view> quantities = options_.first   ? std::span<const std::string_view>(kFirstQuantities)
                                                         : oversubscribed ? std::span<const std::string_view>(kCrowdedQuantities)
                                                                          : std::span<const std::string_view>(kQuantities);
    const RankCount ranks{num_ranks, results_.groups.size(), quantities.size()};
    for (const std::string_view quantity : quantities) {
      Group group;
      group.num_participants = num_ranks;
      group.participant = "rank";
      group.quantity = quantity;
      group.oversubscribed = oversubscribed;
      group.bound = !oversubscribed;
      for (const Configuration& configuration : configurations_) {
        if (!configuration.unavailable.empty()) continue;
        group.series.push_back({configuration.name, configuration.family, "", {}});
        if (configuration.name == "hier" && group.bound) group.series.push_back({std::string(kInside), Family::kMpich, "", {}});
      }
      results_.groups.push_back(std::move(group));
    }
    rank_counts_.push_back(ranks);
  }

  Group& first_of(const RankCount& ranks) { return results_.groups[ranks.first]; }

  template <class Do>
  void for_groups(const RankCount& ranks, Do act) {
    for (std::size_t i = 0; i < ranks.count; ++i) act(results_.groups[ranks.first + i]);
  }

  Block measure_block(const RankCount& ranks, int repetition) {
    const LoadMeter meter;
    std::vector<const Configuration*> turns;
    if (!options_.first) turns.push_back(nullptr);  // nullptr stands for the floors
    for (const Configuration& configuration : configurations_) {
      if (configuration.unavailable.empty()) turns.push_back(&configuration);
    }
    std::shuffle(turns.begin(), turns.end(), random_);

    Block block{repetition, last_one_way_ns_, std::nullopt, true};
    for (const Configuration* configuration : turns) {
      if (configuration == nullptr) {
        floors_.measure_exchange(first_of(ranks), repetition, kFloorBudgetMs);
      } else {
        measure_configuration(ranks, *configuration, repetition);
      }
    }
    block.one_way_after_ns = measure_one_way();
    last_one_way_ns_ = block.one_way_after_ns;
    block.taken_by_others = meter.share_of_part();
    for_groups(ranks, [&block](Group& group) { group.blocks.push_back(block); });
    return block;
  }

  void measure_configuration(const RankCount& ranks, const Configuration& configuration, int repetition) {
    const bool has_failed = !series_of(first_of(ranks), configuration.name, configuration.family).failure.empty();
    if (has_failed) return;
    const bool bound = first_of(ranks).bound;
    const bool inside = configuration.name == "hier" && bound;
    std::vector<std::string> arguments{"--budget-ms", fmt::format("{}", options_.budget_ms), "--limit-s",
                                       fmt::format("{:.0f}", std::ceil(options_.timeout_s) + 1)};
    if (inside) arguments.emplace_back("--inside");
    if (options_.first) {
      arguments.emplace_back("--first");
    } else {
      arguments.emplace_back(bound ? "--alone" : "--crowded");
    }
    const ChildResult result = run_child(launch_command(configuration, ranks.num_ranks, bound, arguments), {}, timeout());
    const auto answer = parse_answer(result.output);
    const std::string failure = !result.failure.empty() ? result.failure
                                : !answer               ? "its answer cannot be read"
                                                        : mismatch(configuration, *answer, bound);
    add(ranks, configuration.name, configuration.family, repetition, failure, answer ? answer->program : Answer::Figures());
    if (inside) add(ranks, std::string(kInside), Family::kMpich, repetition, failure, answer ? answer->own : Answer::Figures());
  }

  void add(const RankCount& ranks, const std::string& name, Family family, int repetition, const std::string& failure,
           const Answer::Figures& figures) {
    for_groups(ranks, [&](Group& group) {
      Series& series = series_of(group, name, family);
      series.failure = failure;
      const auto found = figures.find(group.quantity);
      if (failure.empty() && found != figures.end()) series.samples[repetition] = found->second;
    });
  }

  std::optional<double> measure_one_way() {
    int most_bound = 2;
    for (const Group& group : results_.groups) {
      if (group.bound) most_bound = std::max(most_bound, group.num_participants);
    }
    const auto one_way_ns = floors_.measure_one_way(most_bound);
    record_one_way(results_, last_one_way_ns_, one_way_ns);
    return one_way_ns;
  }

  // Returns the number of good blocks, which is the same for all groups of one number of ranks.
  int settle_all(const RankCount& ranks) {
    int num_good = 0;
    for_groups(ranks, [&num_good](Group& group) { num_good = settle(group); });
    return num_good;
  }

  std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(static_cast<long long>(options_.timeout_s * 1000));
  }

  const MpiBenchOptions& options_;
  const Host& host_;
  const std::vector<Configuration>& configurations_;
  Measurements results_;
  std::vector<RankCount> rank_counts_;
  FloorRunner floors_;
  std::mt19937_64 random_;
  std::optional<double> last_one_way_ns_;
};

}  // namespace

Measurements measure(const MpiBenchOptions& options, const Host& host, const std::vector<Configuration>& configurations) {
  return Session(options, host, configurations).run();
}

}  // namespace hierbar::bench::mpi
