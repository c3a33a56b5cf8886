// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "omp/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/text.hpp"

namespace hierbar::bench {
namespace {

constexpr double kNoSlower = 1.05;           // "no slower" and "the same throughput": what repeated runs of one library differ by
constexpr double kOverExchangeFloor = 1.2;   // of a barrier, over the exchange of the same run ...
constexpr double kOverExchangeFloorNs = 15;  // ... or this much above it, if that is more
constexpr double kOverYieldFloor = 1.3;
constexpr double kOversubscribedLibgomp = 0.4;
constexpr double kLongestBarrierNs = 1e6;  // nothing stalls for milliseconds

// Of two threads on two cpus, over the best stock pattern and over libgomp. Peers take two line transfers where an exchange takes
// one, hence two pairs; between the regimes the more lenient one.
struct PairLimits {
  double stock;
  double libgomp;
};
constexpr PairLimits kNearLimits{0.55, 0.35};
constexpr PairLimits kFarLimits{0.58, 0.65};

double oversubscribed_limit(int num_threads, int num_cpus) {
  if (num_threads <= 2 * num_cpus) return 0.9;
  if (num_threads <= 4 * num_cpus) return 0.95;
  return 1.0;
}

class Judge {
 public:
  explicit Judge(std::vector<Verdict>& verdicts) : verdicts_(verdicts) {}

  // hier over `other`. `other` is nullptr when nothing of that kind was measured.
  void ratio(const Group& group, const std::string& against, const Series* other, double limit) {
    Verdict verdict =
        begin(group, fmt::format("hier / {}{}", against, other == nullptr ? "" : fmt::format(" ({})", other->name)), limit);
    const Series* ours = hier(group);
    const auto ratio = ours != nullptr && other != nullptr ? ratio_of(group, *ours, *other) : std::nullopt;
    if (ratio) {
      verdict.value = ratio->value;
      verdict.note = fmt::format("repetitions {:.2f} to {:.2f}", ratio->lowest, ratio->highest);
    }
    finish(group, std::move(verdict), ours != nullptr ? against : "hier");
  }

  // A factor or a distance above the floor, whichever allows more.
  void exchange_floor(const Group& group) {
    const Series* floor = best_of(group, Family::kFloor);
    const Series* ours = hier(group);
    const auto floor_ns = median_of(group, floor);
    const auto ours_ns = median_of(group, ours);
    Verdict verdict = begin(group, "hier / exchange floor", kOverExchangeFloor);
    if (floor_ns && ours_ns) {
      verdict.what += fmt::format(" ({})", floor->name);
      verdict.limit = std::max(kOverExchangeFloor, (*floor_ns + kOverExchangeFloorNs) / *floor_ns);
      verdict.value = *ours_ns / *floor_ns;
      verdict.note = fmt::format("{:.1f} ns over {:.1f} ns", *ours_ns, *floor_ns);
    }
    finish(group, std::move(verdict), ours_ns ? "floor" : "hier");
  }

  void no_stall(const Group& group) {
    Verdict verdict = begin(group, "slowest batch of hier, ns per barrier", kLongestBarrierNs);
    const Series* ours = hier(group);
    const auto summary = ours == nullptr ? std::nullopt : summary_of(group, *ours);
    if (summary) verdict.value = summary->maximum;
    finish(group, std::move(verdict), "hier");
  }

 private:
  // A run that failed part of the way has samples, but is no success.
  static const Series* hier(const Group& group) {
    const Series* series = find_series(group, "hier");
    return series != nullptr && series->failure.empty() ? series : nullptr;
  }

  static std::optional<double> median_of(const Group& group, const Series* series) {
    const auto summary = series == nullptr ? std::nullopt : summary_of(group, *series);
    return summary ? std::optional(summary->median) : std::nullopt;
  }

  static Verdict begin(const Group& group, const std::string& what, double limit) {
    Verdict verdict;
    verdict.what = fmt::format("{}, {}: {}", group.construct, counted(group.num_threads, "thread"), what);
    verdict.limit = limit;
    return verdict;
  }

  void finish(const Group& group, Verdict verdict, const std::string& missing) {
    if (!verdict.value) {
      verdict.note = fmt::format("no figure for {}", missing);
    } else if (!group.settled) {
      verdict.note = "the regime changed in every repetition";
    } else {
      verdict.outcome = *verdict.value <= verdict.limit ? Outcome::kPass : Outcome::kFail;
    }
    verdicts_.push_back(std::move(verdict));
  }

  std::vector<Verdict>& verdicts_;
};

void judge_pair(Judge& judge, const Group& group) {
  if (group.construct == "barrier") {
    const bool near = group.one_way_ns && classify_regime(*group.one_way_ns) == Regime::kNear;
    const PairLimits limits = near ? kNearLimits : kFarLimits;
    judge.exchange_floor(group);
    judge.ratio(group, "best stock libomp", best_of(group, Family::kStock), limits.stock);
    judge.ratio(group, "libgomp", best_of(group, Family::kGnu), limits.libgomp);
  } else if (group.construct == "parallel" || group.construct == "reduction") {
    judge.ratio(group, "best stock libomp", best_of(group, Family::kStock), kNoSlower);
  }
}

void judge_oversubscribed(Judge& judge, const Group& group, int num_cpus) {
  if (group.construct != "barrier") return;
  judge.ratio(group, "best stock libomp", best_of(group, Family::kStock), oversubscribed_limit(group.num_threads, num_cpus));
  judge.ratio(group, "libgomp", best_of(group, Family::kGnu), kOversubscribedLibgomp);
  judge.ratio(group, "yield floor", best_of(group, Family::kFloor), kOverYieldFloor);
  judge.no_stall(group);
}

}  // namespace

std::vector<Verdict> judge(const Results& results, const Options& options, int num_cpus) {
  std::vector<Verdict> verdicts;
  Judge judge(verdicts);
  const bool default_waiting = !options.passive && options.blocktime.empty();
  for (const Group& group : results.groups) {
    if (group.construct == "tasks") {
      judge.ratio(group, "stock default", find_series(group, "hyper"), kNoSlower);
    } else if (!default_waiting) {
      if (group.construct == "barrier") judge.ratio(group, "stock default", find_series(group, "hyper"), kNoSlower);
    } else if (group.oversubscribed) {
      judge_oversubscribed(judge, group, num_cpus);
    } else if (group.num_threads == 2) {
      judge_pair(judge, group);
    }
  }
  return verdicts;
}

}  // namespace hierbar::bench
