// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs the benchmark as people do, with the smallest budget, and reads what it says. Figures are
// not judged here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/common/child_process.hpp"

namespace hierbar::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ChildResult run_bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HIERBAR_OMP_BARRIER_BENCH);
  return run_child(arguments, {}, std::chrono::minutes(2));
}

std::vector<std::string> tiny(std::vector<std::string> more) {
  std::vector<std::string> arguments{"--reps",      "2", "--extra-reps", "0",
                                     "--budget-ms", "2", "--wait",       "0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const json& find_named(const json& list, const std::string& name) {
  static const json kNone;
  for (const json& entry : list) {
    if (entry.at("name") == name) return entry;
  }
  return kNone;
}

TEST(OmpBarrierBench, WritesEverySampleOfEveryConfigurationAsJson) {
  const ChildResult result =
      run_bench(tiny({"--threads", "2,3", "--constructs", "barrier,tasks", "--json", "-"}));
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = json::parse(result.output);
  EXPECT_EQ(report.at("format"), "hierbar-omp-barrier-bench-1");
  EXPECT_EQ(report.at("groups").size(), 4u);
  for (const json& group : report.at("groups")) {
    for (const json& configuration : report.at("configurations")) {
      if (!configuration.at("unavailable").is_null()) continue;
      const json& series = find_named(group.at("series"), configuration.at("name"));
      ASSERT_FALSE(series.is_null()) << configuration.at("name");
      EXPECT_TRUE(series.at("failure").is_null())
          << series.at("name") << ": " << series.at("failure");
      ASSERT_EQ(series.at("samples").size(), 2u) << series.at("name");
      for (const json& repetition : series.at("samples")) EXPECT_FALSE(repetition.at("ns").empty());
    }
  }
}

TEST(OmpBarrierBench, MeasuresHierWhenItsLibraryHasBeenBuilt) {
  const auto library =
      std::filesystem::path(HIERBAR_OMP_BARRIER_BENCH).parent_path().parent_path() / "lib" /
      "libomp.so";
  if (!std::filesystem::exists(library)) GTEST_SKIP() << library << " has not been built";
  const ChildResult result = run_bench(tiny(
      {"--threads", "2", "--constructs", "barrier", "--configs", "hier,hyper", "--json", "-"}));
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = json::parse(result.output);
  for (const char* const name : {"hier", "hyper"}) {
    EXPECT_TRUE(find_named(report.at("configurations"), name).at("unavailable").is_null())
        << find_named(report.at("configurations"), name).at("unavailable");
  }
}

TEST(OmpBarrierBench, MeasuresToolsBesideNone) {
  const auto prefix = std::filesystem::path(HIERBAR_OMP_BARRIER_BENCH).parent_path().parent_path();
  for (const char* const name : {"libomp.so", "libhierbar_ompt.so"})
    if (!std::filesystem::exists(prefix / "lib" / name))
      GTEST_SKIP() << name << " has not been built";
  const ChildResult result = run_bench(tiny({"--tools", "--json", "-"}));
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = json::parse(result.output);
  EXPECT_GT(report.at("run").at("stamp_ns"), 0);
  ASSERT_EQ(report.at("configurations").size(), 4u);
  for (const json& configuration : report.at("configurations"))
    EXPECT_TRUE(configuration.at("unavailable").is_null());
}

TEST(OmpBarrierBench, ShowsTheFloorsBesideTheBarrier) {
  const ChildResult result =
      run_bench(tiny({"--threads", "2,5", "--constructs", "barrier", "--configs", "libgomp"}));
  if (result.errors.find("none of the configurations") != std::string::npos)
    GTEST_SKIP() << "no libgomp to measure";
  ASSERT_EQ(result.failure, "") << result.errors;
  EXPECT_THAT(result.output, HasSubstr("exchange-"));
  EXPECT_THAT(result.output, HasSubstr("physical floor"));
}

TEST(OmpBarrierBench, MeasuresTwoThreadsBesideAProcessThatHoldsACpu) {
  const ChildResult result = run_bench(
      tiny({"--threads", "2,3", "--constructs", "beside", "--configs", "libgomp", "--json", "-"}));
  if (result.errors.find("none of the configurations") != std::string::npos)
    GTEST_SKIP() << "no libgomp to measure";
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = json::parse(result.output);
  if (report.at("host").at("allowed_cpus").size() < 2) GTEST_SKIP() << "one cpu";
  ASSERT_EQ(report.at("groups").size(), 1u) << "two threads only";
  const json& group = report.at("groups")[0];
  EXPECT_EQ(group.at("bound"), false);
  const json& series = find_named(group.at("series"), "libgomp");
  EXPECT_TRUE(series.at("failure").is_null()) << series.at("failure");
  // A sample is the mean of a process, and no region is shorter than its work, up to the error of
  // the work's own calibration.
  for (const json& repetition : series.at("samples")) {
    ASSERT_EQ(repetition.at("ns").size(), 1u);
    EXPECT_GT(repetition.at("ns")[0], 10000);
  }
  EXPECT_EQ(find_named(group.at("series"), "work").at("summary").at("median"), 20000);
  EXPECT_EQ(report.at("run").at("waited_s"), 0) << "--wait 0";
}

TEST(OmpBarrierBench, MeasuresADecodeBesideItsWorkAndASpinBarrier) {
  const ChildResult result = run_bench(
      tiny({"--threads", "1,2", "--constructs", "decode,decode-regions", "--configs", "libgomp",
            "--reference", "libgomp", "--operations", "30", "--graph-ms", "0.4", "--json", "-"}));
  if (result.errors.find("none of the configurations") != std::string::npos)
    GTEST_SKIP() << "no libgomp to measure";
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = json::parse(result.output);
  EXPECT_EQ(report.at("settings").at("operations"), 30);
  const double work_ns = report.at("settings").at("graph_work_ns");
  EXPECT_NEAR(work_ns, 0.4e6, 1);
  ASSERT_EQ(report.at("groups").size(), 4u);
  const bool two_cpus = report.at("host").at("allowed_cpus").size() >= 2;
  for (const json& group : report.at("groups")) {
    const int num_threads = group.at("threads");
    const json& series = find_named(group.at("series"), "libgomp");
    ASSERT_TRUE(series.at("failure").is_null()) << series.at("failure");
    for (const json& repetition : series.at("samples"))
      EXPECT_EQ(repetition.at("ns").size(), repetition.at("ideal_ns").size());
    const double ideal_ns = series.at("ideal").at("median");
    EXPECT_GT(ideal_ns, work_ns / (two_cpus ? num_threads : 1) / 3);
    EXPECT_LT(ideal_ns, work_ns / (two_cpus ? num_threads : 1) * 3);
    EXPECT_LT(series.at("sync_share").at("maximum"), 1);
    const json& spin = find_named(group.at("series"), "spin");
    EXPECT_EQ(spin.is_null(), num_threads == 1 || !two_cpus);
    if (spin.is_null()) continue;
    EXPECT_EQ(spin.at("kind"), "other");
  }
}

TEST(OmpBarrierBench, ShowsTheShareOfSynchronisationInABriefTableToo) {
  const ChildResult result =
      run_bench(tiny({"--threads", "1,3", "--constructs", "decode", "--configs", "libgomp",
                      "--reference", "libgomp", "--operations", "5", "--brief"}));
  if (result.errors.find("none of the configurations") != std::string::npos)
    GTEST_SKIP() << "no libgomp to measure";
  ASSERT_EQ(result.failure, "") << result.errors;
  EXPECT_THAT(result.output, testing::ContainsRegex("decode, ns per graph +1 thread +3 threads"));
  EXPECT_THAT(result.output, testing::ContainsRegex("decode, sync in % +1 thread +3 threads\n"
                                                    "  libgomp +[0-9.-]+ \\([0-9.-]+ \\.\\. "));
}

TEST(OmpBarrierBench, GoesOnWhenAMeasuredProgramCrashesOrHangs) {
  namespace fs = std::filesystem;
  const fs::path directory = fs::path(testing::TempDir()) / "hierbar_broken_programs";
  fs::create_directories(directory);
  const fs::path program = directory / "omp_barrier_worker_gcc";
  std::ofstream(program) << "#!/bin/sh\n"
                            "case \"$*\" in\n"
                            "  --identify) echo '{\"library\": \"/lib/libgomp.so.1\", \"openmp\": "
                            "201511, \"compiler\": \"none\"}';;\n"
                            "  *--threads\\ 2*) kill -SEGV $$;;\n"
                            "  *) exec sleep 100;;\n"
                            "esac\n";
  fs::permissions(program, fs::perms::owner_all);
  const ChildResult result =
      run_bench(tiny({"--threads", "2,3", "--constructs", "barrier", "--configs", "libgomp",
                      "--timeout", "1", "--libexec-dir", directory}));
  fs::remove_all(directory);
  EXPECT_EQ(result.failure, "");
  EXPECT_THAT(result.output, HasSubstr("failed: killed by signal 11"));
  EXPECT_THAT(result.output, HasSubstr("failed: no result within 1.0 s, killed"));
  EXPECT_THAT(result.errors, HasSubstr("floors are not measured"));
}

TEST(OmpBarrierBench, RejectsWhatItDoesNotKnowAndNamesIt) {
  const ChildResult result = run_bench({"--configs", "fastest"});
  EXPECT_THAT(result.failure, HasSubstr("exit status 2"));
  EXPECT_THAT(result.errors + result.output, HasSubstr("fastest"));
  EXPECT_THAT(run_bench({"--threads", "0"}).failure, HasSubstr("exit status 2"));
  EXPECT_THAT(run_bench({"--blocktime", "soon"}).failure, HasSubstr("exit status 2"));
  const ChildResult operations = run_bench({"--operations", "0"});
  EXPECT_THAT(operations.failure, HasSubstr("exit status 2"));
  EXPECT_THAT(operations.errors + operations.output, HasSubstr("--operations"));
}

TEST(OmpBarrierBench, SaysWhyItCannotMeasureALibraryThatIsNotThere) {
  const ChildResult result =
      run_bench({"--list", "--configs", "hier", "--lib-dir", "/nonexistent"});
  EXPECT_EQ(result.failure, "");
  EXPECT_THAT(result.output, HasSubstr("/nonexistent/libomp.so does not exist"));
}

}  // namespace
}  // namespace hierbar::bench
