// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/course.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <vector>

#include "bench/common/stop_requests.hpp"

namespace hierbar::bench {
namespace {

// A benchmark of one group, in whose repetitions others take these shares of the cpus.
Measurements run(const std::vector<double>& taken, int num_repetitions, int max_extra,
                 Group& group) {
  RunOptions options;
  options.num_repetitions = num_repetitions;
  options.max_extra_repetitions = max_extra;
  options.wait_s = 0;
  const CoursePart part{.description = "one",
                        .measure =
                            [&](int repetition) {
                              Block block{repetition, 40, 40, true};
                              block.taken_by_others = taken.at(group.blocks.size());
                              group.blocks.push_back(block);
                              return block;
                            },
                        .settle = [&] { return settle(group); }};
  Measurements results;
  run_course(options, [] {}, {part}, results);
  return results;
}

TEST(Course, RepeatsWhatOthersHaveDisturbed) {
  Group group;
  const Measurements results = run({0, 0.6, 0, 0.5, 0}, 3, 3, group);
  EXPECT_EQ(results.num_repetitions, 3);
  EXPECT_EQ(results.num_repeated_blocks, 2);
  EXPECT_EQ(results.waited_s, 0);
  EXPECT_FALSE(group.disturbed);
  std::vector<bool> kept;
  for (const Block& block : group.blocks) kept.push_back(block.kept);
  EXPECT_EQ(kept, (std::vector<bool>{true, false, true, false, true}));
}

TEST(Course, GivesUpWhereOthersNeverEnd) {
  Group group;
  const Measurements results = run({0.6, 0.7, 0.5, 0.9}, 2, 2, group);
  EXPECT_EQ(results.num_repeated_blocks, 2);
  EXPECT_EQ(group.disturbed, 0.5);
}

TEST(Course, RepeatsNothingOnAQuietMachine) {
  Group group;
  EXPECT_EQ(run({0.05, 0, 0.1}, 3, 3, group).num_repeated_blocks, 0);
}

// A benchmark without end, whose blocks call `measure`.
Measurements run_until_stopped(const std::function<void(int repetition)>& measure) {
  RunOptions options;
  options.num_repetitions = 1 << 30;
  options.max_extra_repetitions = 1 << 30;
  options.wait_s = 0;
  const CoursePart part{.description = "one",
                        .measure =
                            [&](int repetition) {
                              measure(repetition);
                              return Block{repetition, 40, 40, true};
                            },
                        .settle = [] { return 0; }};
  Measurements results;
  run_course(options, [] {}, {part}, results);
  return results;
}

TEST(Course, EndsInTheBlockInWhichASignalAsksForIt) {
  const StopRequests stops(/*after_s=*/0);
  int last = -1;
  const Measurements results = run_until_stopped([&](int repetition) {
    last = repetition;
    if (repetition == 2) std::raise(SIGINT);
  });
  EXPECT_EQ(last, 2);
  EXPECT_EQ(results.num_repetitions, 2);
  EXPECT_EQ(results.num_repeated_blocks, 0);
  EXPECT_EQ(results.stopped_by, SIGINT);
}

TEST(Course, EndsWhenItsTimeIsOver) {
  const StopRequests stops(/*after_s=*/0.02);
  const Measurements results = run_until_stopped([](int) {});
  EXPECT_GT(results.num_repetitions, 0);
  EXPECT_EQ(results.stopped_by, SIGALRM);
}

TEST(StopRequests, LeavesAnIgnoredSignalIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const StopRequests stops(/*after_s=*/0);
    std::raise(SIGHUP);
    EXPECT_EQ(stop_request(), 0);
  }
  std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace hierbar::bench
