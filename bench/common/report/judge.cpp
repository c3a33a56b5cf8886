// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/report/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hierbar::bench {

bool all_pass(const std::vector<Verdict>& verdicts) {
  return !verdicts.empty() &&
         std::all_of(verdicts.begin(), verdicts.end(),
                     [](const Verdict& verdict) { return verdict.outcome == Outcome::kPass; });
}

void Judge::ratio(const Group& group, const std::string& against, const Series* other,
                  double limit) {
  Verdict verdict = begin(group,
                          fmt::format("hier / {}{}", against,
                                      other == nullptr ? "" : fmt::format(" ({})", other->name)),
                          limit);
  const Series* ours = hier(group);
  const auto ratio =
      ours != nullptr && other != nullptr ? ratio_of(group, *ours, *other) : std::nullopt;
  if (ratio) {
    verdict.value = ratio->value;
    verdict.note = fmt::format("repetitions {:.2f} to {:.2f}", ratio->lowest, ratio->highest);
  }
  finish(group, std::move(verdict), ours != nullptr ? against : "hier", !ratio || is_clear(*ratio));
}

void Judge::exchange_floor(const Group& group) {
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

void Judge::overhead(const Group& group, std::string_view name, std::string_view baseline,
                     double limit_ns, double limit_share) {
  Verdict verdict = begin(group, fmt::format("{} - {}, ns", name, baseline), limit_ns);
  const auto whole = [&group](std::string_view wanted) {
    const Series* series = find_series(group, std::string(wanted));
    return series != nullptr && series->failure.empty() ? series : nullptr;
  };
  const Series* watched = whole(name);
  const Series* without = whole(baseline);
  const auto without_ns = median_of(group, without);
  const auto difference =
      watched != nullptr && without_ns ? difference_of(group, *watched, *without) : std::nullopt;
  if (difference) {
    verdict.limit = std::max(limit_ns, limit_share * *without_ns);
    verdict.value = difference->value;
    verdict.note = fmt::format("repetitions {:.1f} to {:.1f}, over {:.1f} ns", difference->lowest,
                               difference->highest, *without_ns);
  }
  finish(group, std::move(verdict), std::string(without_ns ? name : baseline));
}

void Judge::distance(const Group& group, const std::string& above, const Series* other,
                     double limit_ns) {
  const auto ours_ns = median_of(group, hier(group));
  const auto other_ns = median_of(group, other);
  Verdict verdict = begin(group, fmt::format("hier above {}, ns", above), limit_ns);
  if (ours_ns && other_ns) {
    verdict.value = *ours_ns - *other_ns;
    verdict.note = fmt::format("{:.1f} ns over {:.1f} ns", *ours_ns, *other_ns);
  }
  finish(group, std::move(verdict), ours_ns ? above : "hier");
}

void Judge::no_stall(const Group& group, double limit_ns) {
  Verdict verdict = begin(group, "slowest batch of hier, ns per barrier", limit_ns);
  const Series* ours = hier(group);
  const auto summary = ours == nullptr ? std::nullopt : summary_of(group, *ours);
  if (summary) verdict.value = summary->maximum;
  finish(group, std::move(verdict), "hier");
}

// A series that failed halfway has samples, but is not measured.
const Series* Judge::hier(const Group& group) {
  const Series* series = find_series(group, "hier");
  return series != nullptr && series->failure.empty() ? series : nullptr;
}

std::optional<double> Judge::median_of(const Group& group, const Series* series) {
  const auto summary = series == nullptr ? std::nullopt : summary_of(group, *series);
  return summary ? std::optional(summary->median) : std::nullopt;
}

Verdict Judge::begin(const Group& group, const std::string& what, double limit) {
  Verdict verdict;
  verdict.what = fmt::format("{}, {}: {}", group.quantity, participants_text(group), what);
  verdict.limit = limit;
  return verdict;
}

void Judge::finish(const Group& group, Verdict verdict, const std::string& missing, bool is_clear) {
  if (!verdict.value) {
    verdict.note = fmt::format("no figure for {}", missing);
  } else if (!group.settled) {
    verdict.note = "the regime changed in every repetition";
  } else if (group.disturbed) {
    verdict.note = fmt::format("others took {:.0f} % of the cpus' time or more in every repetition",
                               100 * *group.disturbed);
  } else if (!is_clear) {
    verdict.note += ": too far apart for a verdict";
  } else {
    verdict.outcome = *verdict.value <= verdict.limit ? Outcome::kPass : Outcome::kFail;
  }
  verdicts_.push_back(std::move(verdict));
}

}  // namespace hierbar::bench
