// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/course.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "bench/common/others.hpp"
#include "bench/common/progress.hpp"
#include "bench/common/stop_requests.hpp"

namespace hierbar::bench {
namespace {

// Judged by the time that the repetitions so far have taken.
bool has_time_for_another(const RunOptions& options, int num_repetitions, double elapsed_s) {
  if (options.time_limit_s <= 0 || num_repetitions == 0) return true;
  return elapsed_s + elapsed_s / num_repetitions <= options.time_limit_s;
}

class Course {
 public:
  Course(const RunOptions& options, std::size_t num_blocks)
      : options_(options), progress_(num_blocks, options.time_limit_s), gate_(options.wait_s) {}

  void wait() {
    gate_.wait([this](const std::string& line) { progress_.note(line); });
  }

  void measure(const CoursePart& part, int repetition, const std::string& stage) {
    progress_.block(stage, part.description);
    if (part.measure(repetition).taken_by_others > kPartDisturbed) wait();
  }

  void repeat_dropped(const CoursePart& part, Measurements& results) {
    int num_good = part.settle();
    for (int extra = 0;
         num_good < results.num_repetitions && extra < options_.max_extra_repetitions; ++extra) {
      if (stop_request() != 0) break;
      if (options_.time_limit_s > 0 && measuring_s() > options_.time_limit_s) break;
      ++results.num_repeated_blocks;
      measure(part, options_.num_repetitions + extra,
              fmt::format("disturbed, repetition {} once more", num_good + 1));
      num_good = part.settle();
    }
  }

  void finish(Measurements& results) {
    progress_.finish();
    results.seconds = progress_.seconds();
    results.waited_s = gate_.waited_s();
    results.stopped_by = stop_request();
  }

  // Without what was spent on waiting for a quiet machine.
  double measuring_s() const { return progress_.seconds() - gate_.waited_s(); }

 private:
  const RunOptions& options_;
  Progress progress_;
  QuietGate gate_;
};

}  // namespace

void run_course(const RunOptions& options, const std::function<void()>& prepare,
                const std::vector<CoursePart>& parts, Measurements& results) {
  const LoadMeter meter;
  Course course(options, parts.size() * static_cast<std::size_t>(options.num_repetitions));
  course.wait();
  prepare();
  for (int repetition = 0; repetition < options.num_repetitions; ++repetition) {
    if (!has_time_for_another(options, results.num_repetitions, course.measuring_s())) break;
    const std::string stage =
        fmt::format("repetition {} of {}", repetition + 1, options.num_repetitions);
    for (const CoursePart& part : parts) {
      if (stop_request() != 0) break;
      course.measure(part, repetition, stage);
    }
    if (stop_request() != 0) break;
    ++results.num_repetitions;
  }
  for (const CoursePart& part : parts) course.repeat_dropped(part, results);
  course.finish(results);
  results.disturbance = meter.since_start();
}

}  // namespace hierbar::bench
