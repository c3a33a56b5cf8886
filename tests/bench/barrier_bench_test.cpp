// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs the benchmark as people do, with the smallest budget, and reads what it says. Figures are
// not judged here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "barrier/algorithm.hpp"
#include "bench/common/child_process.hpp"

namespace hierbar::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;
using testing::UnorderedElementsAre;

ChildResult run_bench(std::vector<std::string> arguments, const Variables& variables = {}) {
  arguments.insert(arguments.begin(), HIERBAR_BARRIER_BENCH);
  return run_child(arguments, variables, std::chrono::minutes(2));
}

std::vector<std::string> tiny(std::vector<std::string> more) {
  std::vector<std::string> arguments{
      "--benchmark_repetitions=1", "--benchmark_display_aggregates_only=false",
      "--benchmark_min_time=0.0001", "--benchmark_format=json",
      "--benchmark_filter=^[^/]+/2/real_time"};  // two threads, no floors
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// The names before "/2/real_time".
std::multiset<std::string> rows_of(const ChildResult& result) {
  std::multiset<std::string> names;
  const json report = json::parse(result.output);
  for (const json& row : report.at("benchmarks")) {
    const std::string name = row.at("name");
    names.insert(name.substr(0, name.find('/')));
  }
  return names;
}

TEST(BarrierBench, MeasuresTheEngineBesideItsPeersByDefault) {
  const ChildResult result = run_bench(tiny({}));
  ASSERT_EQ(result.failure, "") << result.errors;
  EXPECT_THAT(rows_of(result), UnorderedElementsAre("hierbar", "std::barrier", "pthread_barrier"));
}

TEST(BarrierBench, MeasuresEveryAlgorithmOnce) {
  const ChildResult result = run_bench(tiny({"--algorithm", "mcs,all,topo"}));
  ASSERT_EQ(result.failure, "") << result.errors;
  std::multiset<std::string> expected{"hierbar", "std::barrier", "pthread_barrier"};
  for (const NamedAlgorithm& named : kAlgorithms) {
    if (named.algorithm != Algorithm::kHier) expected.emplace(named.name);
  }
  EXPECT_EQ(rows_of(result), expected);
}

TEST(BarrierBench, RefusesAnAlgorithmThatDoesNotExist) {
  const ChildResult result = run_bench({"--algorithm", "mcs,tree"});
  EXPECT_THAT(result.failure, StartsWith("exit status 2"));
  EXPECT_THAT(
      result.errors,
      HasSubstr(
          "--algorithm: 'tree': no such algorithm; allowed: all, or a comma list of hier, topo"));
}

TEST(BarrierBench, RefusesOptionsThatNobodyKnows) {
  const ChildResult result = run_bench(tiny({"--algorithms=all"}));
  EXPECT_THAT(result.failure, StartsWith("exit status 2"));
  EXPECT_THAT(result.errors, HasSubstr("--algorithms=all"));
}

TEST(BarrierBench, ListsTheAlgorithmsInItsHelp) {
  const ChildResult result = run_bench({"--help"});
  ASSERT_EQ(result.failure, "");
  for (const NamedAlgorithm& named : kAlgorithms)
    EXPECT_THAT(result.output, HasSubstr(std::string(named.name) + "\n"));
  EXPECT_THAT(result.output, HasSubstr("--benchmark_filter"));
}

TEST(BarrierBench, SaysWhenThePapersAlgorithmStepsAside) {
  // No cpu of this process is on that machine: nothing is known about what the threads share.
  const ChildResult result =
      run_bench(tiny({"--algorithm", "topo"}),
                {{"HIERBAR_TOPOLOGY", "numa:1(indexes=9) core:1 pu:1(indexes=4000)"}});
  ASSERT_EQ(result.failure, "") << result.errors;
  EXPECT_THAT(
      result.errors,
      HasSubstr("topo with 2 threads follows the engine's plan: participant 0 is not bound"));
}

TEST(BarrierBench, ReportsBadSettingsOfPlans) {
  const ChildResult result = run_bench(tiny({}), {{"HIERBAR_LEVELS", "storey"}});
  ASSERT_EQ(result.failure, "") << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("HIERBAR_LEVELS: 'storey'"));
}

}  // namespace
}  // namespace hierbar::bench
