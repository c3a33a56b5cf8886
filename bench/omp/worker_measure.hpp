// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// How omp_barrier_worker takes samples of a construct, whichever it is.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

#include "bench/common/stopwatch.hpp"
#include "bench/omp/worker_settings.hpp"

namespace hierbar::bench {

// A construct that can be measured.
struct Construct {
  std::string_view name;
  double (*time)(long count);
  int per_count;   // number of measured constructs in one count
  bool has_delay;  // it contains the delay, which must be subtracted
  // What others do decides about single batches: only the mean of a whole run says what a program
  // gets.
  bool as_mean = false;
};

// The duration of a whole batch, including what the batch does not count.
inline double duration_ns(const Construct& construct, long count) {
  const double start = now_ns();
  construct.time(count);
  return now_ns() - start;
}

// Finds the count that fills a batch, by trials of growing size. A trial that seems to fill it is
// repeated. A disturbed one would make the batches so small that their first and last construct
// would dominate them. The trials also warm up the team.
inline long calibrate(const Construct& construct, double batch_ns, double deadline_ns) {
  constexpr int kMostTrials = 4;
  for (long count = 1;; count *= 4) {
    double elapsed = duration_ns(construct, count);
    for (int i = 1; i < kMostTrials && elapsed > batch_ns / 4 && now_ns() < deadline_ns; ++i) {
      elapsed = std::min(elapsed, duration_ns(construct, count));
    }
    if (elapsed > batch_ns / 4 || now_ns() > deadline_ns) {
      return std::max(1L, static_cast<long>(static_cast<double>(count) * batch_ns / std::max(elapsed, 1.0)));
    }
  }
}

// Measures three batches at least, even if one takes longer than the whole budget. But it ends when
// four budgets are spent.
inline std::vector<double> measure(const Construct& construct, const OmpWorkerSettings& settings, long& count) {
  constexpr std::size_t kFewestBatches = 3;
  constexpr double kNumBatches = 40;
  const double start = now_ns();
  count = calibrate(construct, settings.budget_ns / kNumBatches, start + settings.budget_ns);
  const double measuring = now_ns();
  const double reference_ns = construct.has_delay ? settings.delay_ns : 0;
  std::vector<double> samples;
  while (true) {
    const double batch_ns = construct.time(count);
    samples.push_back(batch_ns / static_cast<double>(count) / construct.per_count - reference_ns);
    const double spent = now_ns() - measuring;
    if (spent > settings.budget_ns && (samples.size() >= kFewestBatches || spent > 4 * settings.budget_ns)) break;
  }
  if (!construct.as_mean) return samples;
  return {std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size())};
}

}  // namespace hierbar::bench
