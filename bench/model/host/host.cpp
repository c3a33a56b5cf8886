// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/host/host.hpp"

#include <algorithm>
#include <utility>

#include "base/arch/pause.hpp"
#include "tune/crossing_team.hpp"
#include "tune/ping_pong.hpp"

namespace hierbar::bench::model {
namespace {

constexpr std::uint32_t kWarmUp = 100;
constexpr std::uint32_t kMeasuredEpisodes = 1000;
constexpr int kBatchesPerRound = 5;

struct alignas(128) StorageLine {
  std::byte bytes[128];
};

template <class Barrier>
Result<HostPrediction> predict_barrier(const EnginePlan& engine, const PairCosts& costs) {
  const hierbar_plan plan = engine.view();
  std::vector<StorageLine> memory(Barrier::size_bytes(plan) / sizeof(StorageLine) + 1);
  const Barrier barrier(plan, memory.data());
  PairSimulator simulator;
  double begin_ns = 0;
  double end_ns = 0;
  std::uint64_t transfers_before = 0;
  const std::string failure = simulator.run(
      costs, memory.front().bytes, memory.size() * sizeof(StorageLine) / plan.line_bytes,
      plan.line_bytes, [&](std::uint32_t me) {
        PairMem mem(simulator, me);
        for (std::uint32_t episode = 0; episode < kWarmUp + kMeasuredEpisodes; ++episode) {
          if (episode == kWarmUp && me == 0) {
            begin_ns = simulator.now(me);
            transfers_before = simulator.num_transfers();
          }
          simulator.pass(me, costs.episode);
          if (cross(barrier, mem, me) == WaitResult::kAborted) return;
        }
        if (me == 0) end_ns = simulator.now(me);
      });
  if (!failure.empty()) return Error{failure};
  return HostPrediction{
      (end_ns - begin_ns) / kMeasuredEpisodes,
      static_cast<double>(simulator.num_transfers() - transfers_before) / kMeasuredEpisodes};
}

PairCosts costs_of(double one_way_ns, double pause_ns) {
  return pair_costs(one_way_ns, pauses_per_poll(pause_ns, poll_spacing_ns()) * pause_ns);
}

// The median of several batches, so that a batch in which a thread lost its cpu does not count.
double period_of(CrossingTeam& team, std::size_t which) {
  std::vector<double> samples;
  for (int i = 0; i < kBatchesPerRound; ++i) samples.push_back(team.period_ns(which));
  return quartiles_of(std::move(samples)).median;
}

}  // namespace

EnginePlan host_plan(const HostCase& host_case) {
  Machine machine;
  machine.units.resize(1);
  return *build_engine_plan(std::vector<LocalityPath>(2), machine,
                            ShapeOptions{.num_leaders = host_case.num_leaders});
}

Result<HostPrediction> predict(const HostCase& host_case, const PairCosts& costs) {
  const EnginePlan plan = host_plan(host_case);
  return visit_algorithm<PairMem>(host_case.algorithm, [&](auto type) {
    return predict_barrier<typename decltype(type)::type>(plan, costs);
  });
}

Result<HostReport> compare_on_host(CpuPair cpus, const KnownPair* known, int num_rounds) {
  std::vector<Contestant> contestants;
  for (const HostCase& host_case : kHostCases)
    contestants.push_back({host_case.algorithm, host_plan(host_case)});
  CrossingTeam team({cpus.first, cpus.second}, std::move(contestants));
  HostReport report{};
  report.cpus = cpus;
  report.pause_ns = known != nullptr ? known->pause_ns : measure_pause_ns();
  std::vector<double> one_way;
  std::array<std::vector<double>, kHostCases.size()> measured;
  std::array<std::vector<double>, kHostCases.size()> errors;
  for (int round = 0; round < num_rounds; ++round) {
    one_way.push_back(known != nullptr ? known->one_way_ns
                                       : measure_one_way(cpus.first, cpus.second).best_ns());
    for (std::size_t i = 0; i < kHostCases.size(); ++i) {
      const Result<HostPrediction> predicted =
          predict(kHostCases[i], costs_of(one_way.back(), report.pause_ns));
      if (!predicted) return Error{predicted.error()};
      measured[i].push_back(period_of(team, i));
      errors[i].push_back(100 * (predicted->period_ns / measured[i].back() - 1));
    }
  }
  report.one_way_ns = quartiles_of(one_way);
  const PairCosts costs = costs_of(report.one_way_ns.median, report.pause_ns);
  report.poll_spacing_ns = costs.poll_spacing;
  for (std::size_t i = 0; i < kHostCases.size(); ++i) {
    report.rows[i] = {*predict(kHostCases[i], costs), quartiles_of(measured[i]),
                      quartiles_of(errors[i])};
  }
  return report;
}

}  // namespace hierbar::bench::model
