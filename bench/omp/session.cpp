// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/omp/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "bench/common/course.hpp"
#include "bench/common/floors/floor_runner.hpp"
#include "bench/common/others/busy_neighbour.hpp"
#include "bench/omp/constructs.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::bench {
namespace {

constexpr int kLargestDefaultTeam = 16;

std::vector<int> default_thread_counts(int num_cpus) {
  std::vector<int> counts;
  for (const int factor : {1, 2, 4, 8}) counts.push_back(std::clamp(factor * num_cpus, 2, kLargestDefaultTeam));
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

class Session {
 public:
  Session(const OmpBenchOptions& options, const Host& host, std::vector<Configuration> configurations)
      : options_(options), host_(host), floors_("omp_barrier_bench", options.libexec_dir / "floor_worker", host, timeout()) {
    results_.configurations = std::move(configurations);
    make_groups();
  }

  Results run() {
    std::vector<CoursePart> parts;
    for (Group& group : results_.groups) {
      parts.push_back({fmt::format("{}, {}", group.quantity, participants_text(group)),
                       [this, &group](int repetition) { return measure_block(group, repetition); },
                       [&group] { return settle(group); }});
    }
    const auto prepare = [this] {
      last_one_way_ns_ = measure_one_way();
      if (options_.tools) results_.stamp_ns = TraceClock::measure().stamp_ns();
    };
    run_course(options_, prepare, parts, results_);
    return std::move(results_);
  }

 private:
  void make_groups() {
    const int num_cpus = static_cast<int>(host_.cpus.size());
    const bool by_default = options_.thread_counts.empty();
    const std::vector<int> counts = by_default ? default_thread_counts(num_cpus) : options_.thread_counts;
    if (by_default) add_group(1, "tasks");
    for (const int num_threads : counts) {
      for (const ConstructName& construct : kConstructs) add_group(num_threads, construct.name);
    }
  }

  // Adds the group if its construct was asked for. An isolated barrier needs a cpu for each thread.
  void add_group(int num_threads, std::string_view construct) {
    const auto& asked = options_.constructs;
    const bool wanted = asked.empty() || std::find(asked.begin(), asked.end(), construct) != asked.end();
    const bool oversubscribed = num_threads > static_cast<int>(host_.cpus.size());
    if (!wanted || (construct == "isolated" && oversubscribed)) return;
    if (construct == kBeside && (num_threads != 2 || oversubscribed)) return;
    Group group;
    group.num_participants = num_threads;
    group.quantity = construct;
    group.oversubscribed = oversubscribed;
    group.bound = options_.binding == Binding::kAlways || (options_.binding == Binding::kAuto && !oversubscribed);
    if (construct == kBeside) group.bound = false;  // as programs are that share a machine
    for (const Configuration& configuration : results_.configurations) {
      if (configuration.unavailable.empty()) group.series.push_back({configuration.name, configuration.family, "", {}});
    }
    results_.groups.push_back(std::move(group));
  }

  Block measure_block(Group& group, int repetition) {
    const LoadMeter meter;
    std::vector<const Configuration*> turns{nullptr};  // nullptr stands for the floors
    for (const Configuration& configuration : results_.configurations) {
      if (configuration.unavailable.empty()) turns.push_back(&configuration);
    }
    std::rotate(turns.begin(), turns.begin() + repetition % static_cast<int>(turns.size()), turns.end());

    Block block{repetition, last_one_way_ns_, std::nullopt, true};
    {
      std::optional<BusyNeighbour> neighbour;
      if (group.quantity == kBeside) neighbour.emplace(host_.cpus);
      for (const Configuration* configuration : turns) {
        if (configuration == nullptr) {
          measure_floors(group, repetition);
        } else if (!neighbour || neighbour->is_there()) {
          measure_configuration(group, *configuration, repetition);
        } else {
          series_of(group, configuration->name, configuration->family).failure = "no process could be put beside it";
        }
      }
    }
    block.one_way_after_ns = measure_one_way();
    last_one_way_ns_ = block.one_way_after_ns;
    block.taken_by_others = meter.share_of_part();
    group.blocks.push_back(block);
    return block;
  }

  void measure_configuration(Group& group, const Configuration& configuration, int repetition) {
    Series& series = series_of(group, configuration.name, configuration.family);
    if (!series.failure.empty()) return;
    const double budget_ms = options_.budget_ms * (group.quantity == kBeside ? kBesideBudgets : 1);
    const std::vector<std::string> command{configuration.worker,
                                           "--construct",
                                           group.quantity,
                                           "--threads",
                                           std::to_string(group.num_participants),
                                           "--budget-ms",
                                           fmt::format("{}", budget_ms),
                                           "--delay-ns",
                                           fmt::format("{}", options_.delay_ns)};
    const ChildResult result = run_child(command, variables_for(configuration, group.num_participants, group.bound), timeout());
    series.failure = result.failure;
    if (!series.failure.empty()) return;
    const auto answer = nlohmann::json::parse(result.output, nullptr, false);
    if (answer.is_discarded() || answer.value("library", "") != configuration.loaded_library) {
      series.failure = answer.is_discarded() ? "its answer cannot be read" : "another library than before served it";
      return;
    }
    series.samples[repetition] = answer.at("samples").get<std::vector<double>>();
  }

  // Only barriers and regions of two or more threads have floors. That of regions which work is
  // their work.
  void measure_floors(Group& group, int repetition) {
    if (group.num_participants < 2) return;
    if (group.quantity == "barrier") floors_.measure_exchange(group, repetition, options_.budget_ms);
    if (group.quantity == kBeside) series_of(group, "work", Family::kFloor).samples[repetition] = {kBesideWorkNs};
    if (is_region(group.quantity)) floors_.measure_pool(group, repetition, options_.budget_ms);
  }

  std::optional<double> measure_one_way() {
    int largest_team = 2;
    for (const Group& group : results_.groups) {
      if (!group.oversubscribed) largest_team = std::max(largest_team, group.num_participants);
    }
    const auto one_way_ns = floors_.measure_one_way(largest_team);
    record_one_way(results_, last_one_way_ns_, one_way_ns);
    return one_way_ns;
  }

  std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(static_cast<long long>(options_.timeout_s * 1000));
  }

  const OmpBenchOptions& options_;
  const Host& host_;
  Results results_;
  FloorRunner floors_;
  std::optional<double> last_one_way_ns_;
};

}  // namespace

Results measure(const OmpBenchOptions& options, const Host& host, std::vector<Configuration> configurations) {
  return Session(options, host, std::move(configurations)).run();
}

}  // namespace hierbar::bench
