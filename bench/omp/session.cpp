// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "omp/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "common/load.hpp"
#include "omp/constructs.hpp"
#include "omp/progress.hpp"

namespace hierbar::bench {
namespace {

constexpr double kOneWayBudgetMs = 8;
constexpr int kLargestDefaultTeam = 16;

std::vector<int> default_thread_counts(int num_cpus) {
  std::vector<int> counts;
  for (const int factor : {1, 2, 4, 8}) counts.push_back(std::clamp(factor * num_cpus, 2, kLargestDefaultTeam));
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

class Session {
 public:
  Session(const Options& options, const Host& host, std::vector<Configuration> configurations) : options_(options), host_(host) {
    results_.configurations = std::move(configurations);
    make_groups();
  }

  Results run() {
    const LoadMeter meter;
    Progress progress(results_.groups.size() * static_cast<std::size_t>(options_.num_repetitions));
    last_one_way_ns_ = measure_one_way();
    for (int repetition = 0; repetition < options_.num_repetitions && has_time_for_another(progress.seconds()); ++repetition) {
      for (Group& group : results_.groups) {
        progress.block(fmt::format("repetition {} of {}", repetition + 1, options_.num_repetitions), group);
        measure_block(group, repetition);
      }
      ++results_.num_repetitions;
    }
    for (Group& group : results_.groups) repeat_dropped(group, progress);
    progress.finish();
    results_.seconds = progress.seconds();
    results_.disturbance = meter.since_start();
    return std::move(results_);
  }

 private:
  // Judged by how long the repetitions so far took.
  bool has_time_for_another(double elapsed_s) const {
    if (options_.time_limit_s <= 0 || results_.num_repetitions == 0) return true;
    return elapsed_s + elapsed_s / results_.num_repetitions <= options_.time_limit_s;
  }

  void make_groups() {
    const int num_cpus = static_cast<int>(host_.cpus.size());
    const bool by_default = options_.thread_counts.empty();
    const std::vector<int> counts = by_default ? default_thread_counts(num_cpus) : options_.thread_counts;
    if (by_default) add_group(1, "tasks");
    for (const int num_threads : counts) {
      for (const ConstructName& construct : kConstructs) add_group(num_threads, construct.name);
    }
  }

  // Unless it was not asked for. An isolated barrier needs all its threads on cpus at once.
  void add_group(int num_threads, std::string_view construct) {
    const auto& asked = options_.constructs;
    const bool wanted = asked.empty() || std::find(asked.begin(), asked.end(), construct) != asked.end();
    const bool oversubscribed = num_threads > static_cast<int>(host_.cpus.size());
    if (!wanted || (construct == "isolated" && oversubscribed)) return;
    Group group;
    group.num_threads = num_threads;
    group.construct = construct;
    group.oversubscribed = oversubscribed;
    group.bound = options_.binding == Binding::kAlways || (options_.binding == Binding::kAuto && !oversubscribed);
    for (const Configuration& configuration : results_.configurations) {
      if (configuration.unavailable.empty()) group.series.push_back({configuration.name, configuration.family, "", {}});
    }
    results_.groups.push_back(std::move(group));
  }

  void measure_block(Group& group, int repetition) {
    std::vector<const Configuration*> turns{nullptr};  // nullptr: the floors
    for (const Configuration& configuration : results_.configurations) {
      if (configuration.unavailable.empty()) turns.push_back(&configuration);
    }
    std::rotate(turns.begin(), turns.begin() + repetition % static_cast<int>(turns.size()), turns.end());

    Block block{repetition, last_one_way_ns_, std::nullopt, true};
    for (const Configuration* configuration : turns) {
      if (configuration == nullptr) {
        measure_floors(group, repetition);
      } else {
        measure_configuration(group, *configuration, repetition);
      }
    }
    block.one_way_after_ns = measure_one_way();
    last_one_way_ns_ = block.one_way_after_ns;
    group.blocks.push_back(block);
  }

  void measure_configuration(Group& group, const Configuration& configuration, int repetition) {
    Series& series = series_of(group, configuration.name, configuration.family);
    if (!series.failure.empty()) return;
    const std::vector<std::string> command{configuration.worker,
                                           "--construct",
                                           group.construct,
                                           "--threads",
                                           std::to_string(group.num_threads),
                                           "--budget-ms",
                                           fmt::format("{}", options_.budget_ms),
                                           "--delay-ns",
                                           fmt::format("{}", options_.delay_ns)};
    const ChildResult result = run_child(command, variables_for(configuration, group.num_threads, group.bound), timeout());
    series.failure = result.failure;
    if (!series.failure.empty()) return;
    const auto answer = nlohmann::json::parse(result.output, nullptr, false);
    if (answer.is_discarded() || answer.value("library", "") != configuration.library) {
      series.failure = answer.is_discarded() ? "its answer cannot be read" : "another library than before served it";
      return;
    }
    series.samples[repetition] = answer.at("samples").get<std::vector<double>>();
  }

  // The exchange whose period bounds that of a barrier from below; other constructs have no such floor.
  void measure_floors(Group& group, int repetition) {
    if (group.num_threads < 2 || group.construct != "barrier") return;
    std::vector<std::string> command;
    if (group.oversubscribed) {
      command = {"yield", fmt::format("{}", options_.budget_ms), std::to_string(group.num_threads)};
      if (group.bound) append_cpus(command, static_cast<int>(host_.cpus.size()));
    } else {
      command = {"exchange", fmt::format("{}", options_.budget_ms)};
      append_cpus(command, group.num_threads);
    }
    for (auto& [name, samples] : run_floor_worker(command)) {
      series_of(group, name, name.starts_with("packed") ? Family::kHint : Family::kFloor).samples[repetition] = samples;
    }
  }

  // ns between the first cpu and the last that a team without oversubscription takes. Nothing with a single cpu.
  std::optional<double> measure_one_way() {
    if (host_.cpus.size() < 2) return std::nullopt;
    int largest_team = 2;
    for (const Group& group : results_.groups) {
      if (!group.oversubscribed) largest_team = std::max(largest_team, group.num_threads);
    }
    const int last_cpu = host_.cpus[static_cast<std::size_t>(largest_team) - 1];
    std::optional<double> best;
    for (const auto& [name, samples] : run_floor_worker(
             {"one-way", fmt::format("{}", kOneWayBudgetMs), std::to_string(host_.cpus.front()), std::to_string(last_cpu)})) {
      const auto candidate = median(samples);
      if (candidate && (!best || *candidate < *best)) best = candidate;
    }
    if (best) {
      if (last_one_way_ns_ && !same_regime(*last_one_way_ns_, *best)) ++results_.num_regime_changes;
      results_.one_way_ns.push_back(*best);
    }
    return best;
  }

  std::map<std::string, std::vector<double>> run_floor_worker(std::vector<std::string> command) {
    command.insert(command.begin(), options_.libexec_dir / "floor_worker");
    const ChildResult result = run_child(command, {}, timeout());
    const auto answer = nlohmann::json::parse(result.output, nullptr, false);
    if (!result.failure.empty() || answer.is_discarded()) {
      if (!floor_failure_said_) {
        fmt::print(stderr, "\nomp_barrier_bench: floors are not measured: {}\n",
                   result.failure.empty() ? "floor_worker's answer cannot be read" : result.failure);
      }
      floor_failure_said_ = true;
      return {};
    }
    return answer.get<std::map<std::string, std::vector<double>>>();
  }

  void append_cpus(std::vector<std::string>& command, int count) const {
    for (int i = 0; i < count; ++i) command.push_back(std::to_string(host_.cpus[static_cast<std::size_t>(i)]));
  }

  void repeat_dropped(Group& group, Progress& progress) {
    int num_good = settle(group);
    for (int extra = 0; num_good < results_.num_repetitions && extra < options_.max_extra_repetitions; ++extra) {
      if (options_.time_limit_s > 0 && progress.seconds() > options_.time_limit_s) break;
      progress.block(fmt::format("the regime changed, repetition {} once more", num_good + 1), group);
      ++results_.num_repeated_blocks;
      measure_block(group, options_.num_repetitions + extra);
      num_good = settle(group);
    }
  }

  static Series& series_of(Group& group, const std::string& name, Family family) {
    const auto found = std::find_if(group.series.begin(), group.series.end(), [&](const Series& s) { return s.name == name; });
    if (found != group.series.end()) return *found;
    return group.series.emplace_back(Series{name, family, "", {}});
  }

  std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(static_cast<long long>(options_.timeout_s * 1000));
  }

  const Options& options_;
  const Host& host_;
  Results results_;
  std::optional<double> last_one_way_ns_;
  bool floor_failure_said_ = false;
};

}  // namespace

Results measure(const Options& options, const Host& host, std::vector<Configuration> configurations) {
  return Session(options, host, std::move(configurations)).run();
}

}  // namespace hierbar::bench
