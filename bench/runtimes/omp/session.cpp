// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/common/others.hpp"
#include "bench/runtimes/omp/bench.hpp"
#include "bench/runtimes/omp/constructs.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::bench::omp {
namespace {

constexpr int kLargestDefaultTeam = 16;

std::vector<int> default_thread_counts(int num_cpus) {
  std::vector<int> counts;
  for (const int factor : {1, 2, 4, 8})
    counts.push_back(std::clamp(factor * num_cpus, 2, kLargestDefaultTeam));
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

// All cpus, a quarter of them and so on: a decode's speed as it grows with its threads, which must
// not outnumber the cpus.
std::vector<int> default_decode_counts(int num_cpus) {
  std::vector<int> counts;
  for (int count = num_cpus; count >= 2; count /= 4) counts.push_back(count);
  std::reverse(counts.begin(), counts.end());
  return counts;
}

class OmpSession : public Session<OmpConfiguration> {
 public:
  OmpSession(const OmpBenchOptions& options, const Host& host,
             const std::vector<OmpConfiguration>& configurations)
      : Session(OmpBenchOptions::kProgram, options, host, configurations), omp_options_(options) {
    const int num_cpus = static_cast<int>(host_.cpus.size());
    const bool by_default = options.thread_counts.empty();
    if (by_default) add_group(1, "tasks");
    for (const int num_threads :
         by_default ? default_thread_counts(num_cpus) : options.thread_counts) {
      for (const ConstructName& construct : kConstructs)
        if (!by_default || !is_decode(construct.name)) add_group(num_threads, construct.name);
    }
    if (!by_default) return;
    for (const int num_threads : default_decode_counts(num_cpus)) {
      for (const std::string_view decode : {kDecode, kDecodeRegions})
        add_group(num_threads, decode);
    }
  }

 private:
  // Adds the group if its construct was asked for. An isolated barrier needs a cpu for each thread.
  void add_group(int num_threads, std::string_view construct) {
    const auto& asked = omp_options_.constructs;
    Group group = new_group(num_threads, construct);
    if (!asked.empty() && !is_one_of(asked, construct)) return;
    if (construct == "isolated" && group.oversubscribed) return;
    if (construct == kBeside && (num_threads != 2 || group.oversubscribed)) return;
    group.bound = omp_options_.binding == Binding::kAlways ||
                  (omp_options_.binding == Binding::kAuto && !group.oversubscribed);
    if (construct == kBeside) group.bound = false;  // as programs are that share a machine
    add_part(fmt::format("{}, {}", group.quantity, participants_text(group)), {group});
  }

  void prepare(Measurements& results) override {
    if (omp_options_.tools) results.stamp_ns = TraceClock::measure().stamp_ns();
  }

  // Everyone is the first one as often as the others.
  void order(Turns& turns, int repetition) override {
    std::rotate(turns.begin(), turns.begin() + repetition % static_cast<int>(turns.size()),
                turns.end());
  }

  void begin_block(const Part& part) override {
    if (groups_of(part).front().quantity == kBeside) neighbour_.emplace(host_.cpus);
  }
  void end_block() override { neighbour_.reset(); }

  void measure_configuration(const Part& part, const OmpConfiguration& configuration,
                             int repetition) override {
    const Run run = !neighbour_ || neighbour_->is_there()
                        ? run_worker(groups_of(part).front(), configuration)
                        : Run{"no process could be put beside it"};
    record(part, configuration.name, configuration.family, repetition, run);
  }

  Run run_worker(const Group& group, const OmpConfiguration& configuration) const {
    const double budget_ms = options_.budget_ms * (group.quantity == kBeside ? kBesideBudgets : 1);
    const std::vector<std::string> command{configuration.worker,
                                           "--construct",
                                           group.quantity,
                                           "--threads",
                                           std::to_string(group.num_participants),
                                           "--budget-ms",
                                           fmt::format("{}", budget_ms),
                                           "--delay-ns",
                                           fmt::format("{}", omp_options_.delay_ns),
                                           "--operations",
                                           std::to_string(omp_options_.graph.num_operations),
                                           "--graph-seed",
                                           std::to_string(omp_options_.graph.seed),
                                           "--graph-ms",
                                           fmt::format("{}", omp_options_.graph.work_ms)};
    const ChildResult result = run_child(
        command, variables_for(configuration, group.num_participants, group.bound), timeout_);
    if (!result.failure.empty()) return {result.failure};
    const auto answer = nlohmann::json::parse(result.output, nullptr, false);
    if (answer.is_discarded()) return {"its answer cannot be read"};
    if (answer.value("library", "") != configuration.library)
      return {"another library than before served it"};
    return {"",
            {{group.quantity, answer.at("samples").get<std::vector<double>>()}},
            answer.at("ideal").get<std::vector<double>>()};
  }

  // Only constructs of two or more threads have floors. That of regions and graphs which work is
  // their work.
  void measure_floors(const Part& part, int repetition) override {
    Group& group = groups_of(part).front();
    if (group.num_participants < 2) return;
    if (group.quantity == "barrier")
      floors_.measure_exchange(group, repetition, options_.budget_ms);
    if (is_decode(group.quantity))
      floors_.measure_decode(group, repetition, options_.budget_ms, omp_options_.graph);
    if (group.quantity == kBeside)
      series_of(group, "work", Family::kFloor).samples[repetition] = {kBesideWorkNs};
    if (is_region(group.quantity)) floors_.measure_pool(group, repetition, options_.budget_ms);
  }

  const OmpBenchOptions& omp_options_;
  std::optional<BusyNeighbour> neighbour_;
};

}  // namespace

Measurements measure(const OmpBenchOptions& options, const Host& host,
                     const std::vector<OmpConfiguration>& configurations) {
  return OmpSession(options, host, configurations).run();
}

}  // namespace hierbar::bench::omp
