// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/omp/bench.hpp"
#include "bench/runtimes/omp/constructs.hpp"

namespace hierbar::bench::omp {
namespace {

constexpr double kOverYieldFloor = 1.3;
constexpr double kOversubscribedLibgomp = 0.4;
constexpr double kLongestBarrierNs = 1e6;  // no barrier stalls for milliseconds

// For two threads on two cpus: limits over the best stock barrier and over libgomp. The peers take
// two line transfers where an exchange takes one, so their times change differently with the
// distance. Hence limits for near and for far. Between the two regimes those for far apply.
struct PairLimits {
  double stock;
  double libgomp;
};
constexpr PairLimits kNearLimits{0.55, 0.35};
constexpr PairLimits kFarLimits{0.58, 0.65};

// In a flat team each thread's barrier has two readings of the clock: the tool's at the arrival,
// and libomp's at the end of the exchange.
constexpr double kStampsPerBarrier = 2;
constexpr double kToolNs = 10;  // above these readings
constexpr double kSampledNs = 5;
constexpr double kSampledShare = 0.05;

// Compares with the tool that does nothing. What the runtime spends on having any tool is not this
// project's cost, and it is larger than kSampledNs (docs/design/reports.md#d0055).
void judge_tools(Judge& judge, const Group& group, double stamp_ns) {
  if (group.quantity != "barrier" || group.num_participants != 2 || group.oversubscribed) return;
  judge.overhead(group, kFullTool, kNoopTool, kStampsPerBarrier * stamp_ns + kToolNs, 0);
  judge.overhead(group, kSampledTool, kNoopTool, kSampledNs, kSampledShare);
}

double oversubscribed_limit(int num_threads, int num_cpus) {
  if (num_threads <= 2 * num_cpus) return 0.9;
  if (num_threads <= 4 * num_cpus) return 0.95;
  return 1.0;
}

void judge_pair(Judge& judge, const Group& group) {
  if (group.quantity == "barrier") {
    const bool near = group.one_way_ns && classify_regime(*group.one_way_ns) == Regime::kNear;
    const PairLimits limits = near ? kNearLimits : kFarLimits;
    judge.exchange_floor(group);
    judge.ratio(group, "best stock libomp", best_of(group, Family::kStock), limits.stock);
    judge.ratio(group, "libgomp", best_of(group, Family::kGnu), limits.libgomp);
  } else if (group.quantity == kBeside) {
    judge.ratio(group, "stock default", find_series(group, "hyper"), kNoSlower);
    judge.ratio(group, "libgomp", best_of(group, Family::kGnu), kNoSlower);
  } else if (group.quantity == "parallel" || group.quantity == "reduction") {
    judge.ratio(group, "best stock libomp", best_of(group, Family::kStock), kNoSlower);
  }
}

void judge_oversubscribed(Judge& judge, const Group& group, int num_cpus) {
  if (group.quantity != "barrier") return;
  judge.ratio(group, "best stock libomp", best_of(group, Family::kStock),
              oversubscribed_limit(group.num_participants, num_cpus));
  judge.ratio(group, "libgomp", best_of(group, Family::kGnu), kOversubscribedLibgomp);
  judge.ratio(group, "yield floor", best_of(group, Family::kFloor), kOverYieldFloor);
  judge.no_stall(group, kLongestBarrierNs);
}

}  // namespace

std::vector<Verdict> judge(const Measurements& measurements, const OmpBenchOptions& options,
                           int num_cpus) {
  std::vector<Verdict> verdicts;
  Judge judge(verdicts);
  const bool default_waiting = !options.passive && options.blocktime.empty();
  for (const Group& group : measurements.groups) {
    if (options.tools) {
      judge_tools(judge, group, measurements.stamp_ns);
    } else if (group.quantity == "tasks") {
      judge.ratio(group, "stock default", find_series(group, "hyper"), kNoSlower);
    } else if (!default_waiting) {
      if (group.quantity == "barrier")
        judge.ratio(group, "stock default", find_series(group, "hyper"), kNoSlower);
    } else if (group.oversubscribed) {
      judge_oversubscribed(judge, group, num_cpus);
    } else if (group.num_participants == 2) {
      judge_pair(judge, group);
    }
  }
  return verdicts;
}

}  // namespace hierbar::bench::omp
