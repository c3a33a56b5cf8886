// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/course.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "bench/common/load.hpp"
#include "bench/common/progress.hpp"

namespace hierbar::bench {
namespace {

// Judged by the time that the repetitions so far have taken.
bool has_time_for_another(const RunOptions& options, int num_repetitions, double elapsed_s) {
  if (options.time_limit_s <= 0 || num_repetitions == 0) return true;
  return elapsed_s + elapsed_s / num_repetitions <= options.time_limit_s;
}

void repeat_dropped(const RunOptions& options, const CoursePart& part, Progress& progress, Measurements& results) {
  int num_good = part.settle();
  for (int extra = 0; num_good < results.num_repetitions && extra < options.max_extra_repetitions; ++extra) {
    if (options.time_limit_s > 0 && progress.seconds() > options.time_limit_s) break;
    progress.block(fmt::format("the regime changed, repetition {} once more", num_good + 1), part.description);
    ++results.num_repeated_blocks;
    part.measure(options.num_repetitions + extra);
    num_good = part.settle();
  }
}

}  // namespace

void run_course(const RunOptions& options, const std::function<void()>& prepare, const std::vector<CoursePart>& parts,
                Measurements& results) {
  const LoadMeter meter;
  Progress progress(parts.size() * static_cast<std::size_t>(options.num_repetitions));
  prepare();
  for (int repetition = 0; repetition < options.num_repetitions; ++repetition) {
    if (!has_time_for_another(options, results.num_repetitions, progress.seconds())) break;
    for (const CoursePart& part : parts) {
      progress.block(fmt::format("repetition {} of {}", repetition + 1, options.num_repetitions), part.description);
      part.measure(repetition);
    }
    ++results.num_repetitions;
  }
  for (const CoursePart& part : parts) repeat_dropped(options, part, progress, results);
  progress.finish();
  results.seconds = progress.seconds();
  results.disturbance = meter.since_start();
}

}  // namespace hierbar::bench
