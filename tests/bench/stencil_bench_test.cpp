// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs the benchmark as people do, with a small square, and reads what it says. Figures are not
// judged here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/common/child_process.hpp"

namespace hierbar::bench {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

ChildResult run_bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HIERBAR_STENCIL_BENCH);
  return run_child(arguments, {}, std::chrono::minutes(2));
}

ChildResult run_small(std::vector<std::string> arguments) {
  for (const char* word : {"--rows", "64", "--columns", "96", "--sweeps", "10", "--reps", "2"})
    arguments.emplace_back(word);
  return run_bench(std::move(arguments));
}

TEST(StencilBench, MeasuresBothInTurnsAndFindsTheResultCorrect) {
  const ChildResult result = run_small({"--ranks", "2", "--threads", "2", "--json", "-"});
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = json::parse(result.output, nullptr, false);
  ASSERT_FALSE(report.is_discarded()) << result.output;
  ASSERT_EQ(report["variants"].size(), 2U);
  for (const json& variant : report["variants"]) {
    EXPECT_EQ(variant["us_per_sweep"].size(), 2U) << variant;
    EXPECT_TRUE(variant["failure"].is_null()) << variant;
    EXPECT_TRUE(variant["last_answer"]["correct"].get<bool>()) << variant;
    EXPECT_EQ(variant["last_answer"]["threads_per_rank"], 2);
  }
  EXPECT_GT(report["off_over_auto"]["value"], 0);
  EXPECT_GE(report["cpu_share_taken"], 0);
}

TEST(StencilBench, ShowsTheRatioInItsTable) {
  const ChildResult result = run_small({"--ranks", "1", "--threads", "2"});
  EXPECT_EQ(result.failure, "") << result.errors;
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("off / auto"), HasSubstr("Other programs took "),
                    HasSubstr("64 x 96 points"), HasSubstr("1 rank, 2 threads each")));
}

// The result is right only if no thread reads a neighbour's row before it has been written.
TEST(StencilBench, SharesMemoryWithEitherBarrierOfAllThreads) {
  for (const std::string barrier : {"hybrid", "phases"}) {
    const ChildResult result =
        run_small({"--ranks", "2", "--threads", "2", "--barrier", barrier, "--json", "-"});
    ASSERT_EQ(result.failure, "") << barrier << ": " << result.errors;
    const json report = json::parse(result.output, nullptr, false);
    ASSERT_FALSE(report.is_discarded()) << result.output;
    EXPECT_EQ(report["barrier"], barrier);
    for (const json& variant : report["variants"])
      EXPECT_TRUE(variant["last_answer"]["correct"].get<bool>()) << variant;
  }
}

TEST(StencilBench, FindsAWrongResult) {
  const ChildResult result =
      run_small({"--launch-option", "-genv", "--launch-option", "LD_PRELOAD", "--launch-option",
                 HIERBAR_NO_BORDERS, "--bind-to", "none"});
  EXPECT_THAT(result.failure, HasSubstr("1"));
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("off: the result is wrong"), HasSubstr("auto: the result is wrong")));
}

TEST(StencilBench, RefusesBadArguments) {
  EXPECT_THAT(run_bench({"--rows", "8"}).errors, HasSubstr("--rows: Value 8 not in range"));
  EXPECT_THAT(run_bench({"--rows", "64", "--ranks", "40", "--threads", "2"}).errors,
              HasSubstr("ranks x threads"));
  EXPECT_THAT(
      run_bench({"--barrier", "three"}).errors,
      AllOf(HasSubstr("--barrier"), HasSubstr("three"), HasSubstr("hybrid"), HasSubstr("phases")));
  EXPECT_THAT(run_bench({"--barrier", "hybrid", "--lib-dir", "/nowhere/at/all"}).errors,
              HasSubstr("no libhierbar_mpi.so"));
  EXPECT_THAT(run_bench({"--help"}).output, AllOf(HasSubstr("HIERBAR_PLACE=off"),
                                                  HasSubstr("Exit status"), HasSubstr("Examples")));
}

}  // namespace
}  // namespace hierbar::bench
