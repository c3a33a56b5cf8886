// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/groups.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/common/text.hpp"

namespace hierbar::bench {
namespace {

// The one-way time of a block that stayed in one regime.
std::optional<double> steady_one_way(const Block& block) {
  if (!block.one_way_before_ns || !block.one_way_after_ns) return std::nullopt;
  if (!same_regime(*block.one_way_before_ns, *block.one_way_after_ns)) return std::nullopt;
  return std::midpoint(*block.one_way_before_ns, *block.one_way_after_ns);
}

// Nothing if there are no blocks.
std::optional<double> least_taken_by_others(const Group& group) {
  std::optional<double> least;
  for (const Block& block : group.blocks)
    least = std::min(least.value_or(block.taken_by_others), block.taken_by_others);
  return least;
}

bool is_kept(const Group& group, int repetition) {
  return std::any_of(group.blocks.begin(), group.blocks.end(), [repetition](const Block& block) {
    return block.kept && block.repetition == repetition;
  });
}

}  // namespace

const char* family_name(Family family) {
  switch (family) {
    case Family::kHier:
      return "hier";
    case Family::kStock:
      return "stock";
    case Family::kGnu:
      return "libgomp";
    case Family::kMpich:
      return "mpich";
    case Family::kOpenMpi:
      return "openmpi";
    case Family::kOther:
      return "other";
    case Family::kFloor:
      return "floor";
  }
  return "other";
}

void record_one_way(Measurements& measurements, std::optional<double> last_ns,
                    std::optional<double> now_ns) {
  if (!now_ns) return;
  if (last_ns && !same_regime(*last_ns, *now_ns)) ++measurements.num_regime_changes;
  measurements.one_way_ns.push_back(*now_ns);
}

std::string participants_text(const Group& group) {
  return counted(group.num_participants, group.participant);
}

std::string regime_text(const Group& group) {
  if (!group.one_way_ns)
    return group.settled ? "regime unknown" : "REGIME NOT SETTLED, all repetitions shown";
  return fmt::format("regime {}, one way {:.0f} ns",
                     regime_name(classify_regime(*group.one_way_ns)), *group.one_way_ns);
}

int settle(Group& group) {
  group.disturbed = least_taken_by_others(group);
  if (group.disturbed && *group.disturbed <= kPartDisturbed) group.disturbed.reset();
  const auto is_quiet = [](const Block& block) { return block.taken_by_others <= kPartDisturbed; };
  const auto counts = [&](const Block& block) { return group.disturbed || is_quiet(block); };
  std::vector<double> steady;
  bool measurable = false;
  for (const Block& block : group.blocks) {
    measurable = measurable || block.one_way_before_ns.has_value();
    const auto one_way = steady_one_way(block);
    if (one_way && counts(block)) steady.push_back(*one_way);
  }
  group.one_way_ns = prevailing_one_way(steady);
  group.settled = group.one_way_ns.has_value() || !measurable;
  int num_good = 0;
  for (Block& block : group.blocks) {
    const auto one_way = steady_one_way(block);
    const bool same =
        !measurable || (one_way && group.one_way_ns && same_regime(*one_way, *group.one_way_ns));
    block.kept = counts(block) && (same || !group.settled);
    num_good += same && is_quiet(block) ? 1 : 0;
  }
  return num_good;
}

const char* doubt_of(const Group& group, const Ratio& ratio) {
  if (group.disturbed) return "disturbed";
  return is_clear(ratio) ? "" : "unclear";
}

SamplesByRepetition kept_samples(const Group& group, const Series& series) {
  SamplesByRepetition kept;
  for (const auto& [repetition, samples] : series.samples) {
    if (is_kept(group, repetition)) kept[repetition] = samples;
  }
  return kept;
}

std::optional<Summary> summary_of(const Group& group, const Series& series) {
  return summarize(pooled(kept_samples(group, series)));
}

std::optional<Summary> ideal_of(const Group& group, const Series& series) {
  std::vector<double> ideals;
  for (const auto& [repetition, values] : series.ideal)
    if (is_kept(group, repetition)) ideals.insert(ideals.end(), values.begin(), values.end());
  return summarize(std::move(ideals));
}

std::optional<Summary> sync_share_of(const Group& group, const Series& series) {
  std::vector<double> shares;
  for (const auto& [repetition, samples] : kept_samples(group, series)) {
    const auto found = series.ideal.find(repetition);
    if (found == series.ideal.end()) continue;
    const std::vector<double>& ideals = found->second;
    for (std::size_t i = 0; i < std::min(samples.size(), ideals.size()); ++i)
      if (samples[i] > 0) shares.push_back(1 - ideals[i] / samples[i]);
  }
  return summarize(std::move(shares));
}

std::optional<Ratio> ratio_of(const Group& group, const Series& numerator,
                              const Series& denominator) {
  return ratio_of_medians(kept_samples(group, numerator), kept_samples(group, denominator));
}

std::optional<Ratio> difference_of(const Group& group, const Series& from,
                                   const Series& subtracted) {
  return difference_of_medians(kept_samples(group, from), kept_samples(group, subtracted));
}

Series& series_of(Group& group, const std::string& name, Family family) {
  const auto found = std::find_if(group.series.begin(), group.series.end(),
                                  [&](const Series& s) { return s.name == name; });
  if (found != group.series.end()) return *found;
  return group.series.emplace_back(Series{name, family, "", {}, {}});
}

const Series* find_series(const Group& group, const std::string& name) {
  for (const Series& series : group.series) {
    if (series.name == name && summary_of(group, series)) return &series;
  }
  return nullptr;
}

const Series* best_of(const Group& group, Family family) {
  const Series* best = nullptr;
  double best_ns = HUGE_VAL;
  for (const Series& series : group.series) {
    const auto summary = series.family == family ? summary_of(group, series) : std::nullopt;
    if (!summary || !series.failure.empty() || summary->median >= best_ns) continue;
    best = &series;
    best_ns = summary->median;
  }
  return best;
}

}  // namespace hierbar::bench
