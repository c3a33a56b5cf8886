// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/floors/floor_runner.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/common/child_process.hpp"
#include "bench/common/stop_requests.hpp"

namespace hierbar::bench {
namespace {

constexpr double kOneWayBudgetMs = 8;

}  // namespace

void FloorRunner::measure_exchange(Group& group, int repetition, double budget_ms) {
  std::vector<std::string> command;
  if (group.oversubscribed) {
    command = {"yield", fmt::format("{}", budget_ms), std::to_string(group.num_participants)};
    if (group.bound) append_cpus(command, static_cast<int>(host_.cpus.size()));
  } else {
    command = {"exchange", fmt::format("{}", budget_ms)};
    append_cpus(command, group.num_participants);
  }
  add(group, repetition, std::move(command));
}

void FloorRunner::measure_pool(Group& group, int repetition, double budget_ms) {
  if (group.oversubscribed) return;
  std::vector<std::string> command{"pool", fmt::format("{}", budget_ms)};
  append_cpus(command, group.num_participants);
  add(group, repetition, std::move(command));
}

void FloorRunner::measure_decode(Group& group, int repetition, double budget_ms,
                                 const DecodeGraph& graph) {
  if (group.oversubscribed) return;
  std::vector<std::string> command{"decode", fmt::format("{}", budget_ms),
                                   std::to_string(graph.num_operations), std::to_string(graph.seed),
                                   fmt::format("{}", graph.work_ms)};
  append_cpus(command, group.num_participants);
  const FloorSamples samples = run(std::move(command));
  if (samples.empty()) return;
  Series& spin = series_of(group, "spin", Family::kOther);
  spin.samples[repetition] = samples.at("spin");
  spin.ideal[repetition] = samples.at("work");
  series_of(group, "work", Family::kFloor).samples[repetition] = samples.at("work");
}

void FloorRunner::add(Group& group, int repetition, std::vector<std::string> command) {
  for (auto& [name, samples] : run(std::move(command))) {
    series_of(group, name, Family::kFloor).samples[repetition] = samples;
  }
}

std::optional<double> FloorRunner::measure_one_way(int num_cpus) {
  if (host_.cpus.size() < 2) return std::nullopt;
  const int last_cpu = host_.cpus[static_cast<std::size_t>(num_cpus) - 1];
  std::optional<double> best;
  for (const auto& [name, samples] :
       run({"one-way", fmt::format("{}", kOneWayBudgetMs), std::to_string(host_.cpus.front()),
            std::to_string(last_cpu)})) {
    const auto candidate = median(samples);
    if (candidate && (!best || *candidate < *best)) best = candidate;
  }
  return best;
}

FloorSamples FloorRunner::run(std::vector<std::string> command) {
  command.insert(command.begin(), worker_);
  const ChildResult result = run_child(command, {}, timeout_);
  const auto answer = nlohmann::json::parse(result.output, nullptr, false);
  if (!result.failure.empty() || answer.is_discarded()) {
    if (stop_request() != 0) return {};
    if (!failure_said_) {
      fmt::print(stderr, "\n{}: floors are not measured: {}\n", program_,
                 result.failure.empty() ? "floor_worker's answer cannot be read" : result.failure);
    }
    failure_said_ = true;
    return {};
  }
  return answer.get<FloorSamples>();
}

void FloorRunner::append_cpus(std::vector<std::string>& command, int count) const {
  for (int i = 0; i < count; ++i)
    command.push_back(std::to_string(host_.cpus[static_cast<std::size_t>(i)]));
}

}  // namespace hierbar::bench
