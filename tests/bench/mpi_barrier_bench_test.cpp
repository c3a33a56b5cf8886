// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs the benchmark as people do, with the smallest budget, and reads what it says. Figures are
// not judged here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/common/child_process.hpp"
#include "bench/common/host.hpp"

namespace hierbar::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

ChildResult run_bench(std::vector<std::string> arguments,
                      const char* program = HIERBAR_MPI_BARRIER_BENCH) {
  arguments.insert(arguments.begin(), program);
  return run_child(arguments, {}, std::chrono::minutes(2));
}

std::vector<std::string> tiny(std::vector<std::string> more, const std::string& ranks = "2") {
  std::vector<std::string> arguments{"--ranks", ranks,         "--reps", "1",      "--extra-reps",
                                     "0",       "--budget-ms", "5",      "--wait", "0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const fs::path kPrefix = fs::path(HIERBAR_MPI_BARRIER_BENCH).parent_path().parent_path();

fs::path worker() { return kPrefix / "libexec/hierbar/mpi_barrier_worker_mpich"; }

// What a measured program could say.
constexpr const char* kAnswer =
    R"({"version": "MPICH Version: 0", "library": "/l", "barrier": "/l", "cpus": [0, 1], "program": {"period": [1]}})";

// In place of a launcher.
class Script {
 public:
  explicit Script(const std::string& body)
      : path_(fs::path(testing::TempDir()) / "hierbar_broken_launcher") {
    std::ofstream(path_) << "#!/bin/sh\n" << body;
    fs::permissions(path_, fs::perms::owner_all);
  }
  ~Script() { fs::remove(path_); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  [[nodiscard]] std::string path() const { return path_; }

 private:
  fs::path path_;
};

TEST(MpiBarrierBench, WritesEverySampleOfEveryConfigurationAsJson) {
  const ChildResult result = run_bench(tiny({"--json", "-"}));
  if (result.errors.find("none of the configurations") != std::string::npos)
    GTEST_SKIP() << "no MPI to measure";
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = json::parse(result.output);
  EXPECT_EQ(report.at("format"), "hierbar-mpi-barrier-bench-1");
  const json& period = report.at("groups").at(0);
  EXPECT_EQ(period.at("quantity"), "period");
  EXPECT_EQ(period.at("ranks"), 2);
  for (const json& configuration : report.at("configurations")) {
    if (!configuration.at("unavailable").is_null()) continue;
    bool found = false;
    for (const json& series : period.at("series")) {
      if (series.at("name") != configuration.at("name")) continue;
      found = true;
      EXPECT_TRUE(series.at("failure").is_null())
          << series.at("name") << ": " << series.at("failure");
      ASSERT_EQ(series.at("samples").size(), 1u) << series.at("name");
      EXPECT_GE(series.at("samples")[0].at("ns").size(), 3u) << series.at("name");
    }
    EXPECT_TRUE(found) << configuration.at("name");
  }
}

// Short batches after a call of the library gave neither of these figures.
TEST(MpiBarrierBench, MeasuresALoopAndBarriersFromElsewhereOfRanksThatOutnumberTheCpus) {
  const std::string ranks =
      std::to_string(std::max(4u, 2 * static_cast<unsigned>(describe_host().cpus.size())));
  const ChildResult result =
      run_bench(tiny({"--configs", "hier,mpich,openmpi-hier", "--json", "-"}, ranks));
  if (result.errors.find("none of the configurations") != std::string::npos)
    GTEST_SKIP() << "no MPI to measure";
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = json::parse(result.output);
  std::vector<std::string> quantities;
  for (const json& group : report.at("groups")) {
    quantities.push_back(group.at("quantity"));
    EXPECT_EQ(group.at("oversubscribed"), true);
    for (const json& series : group.at("series")) {
      EXPECT_TRUE(series.at("failure").is_null()) << series.at("failure");
      if (series.at("kind") == "floor") continue;
      EXPECT_GE(series.at("samples")[0].at("ns").size(), 3u)
          << quantities.back() << ", " << series.at("name");
    }
  }
  EXPECT_THAT(quantities, testing::ElementsAre("loop", "elsewhere"));
}

TEST(MpiBarrierBench, MeasuresFirstBarriersAndInitBesideEachOther) {
  const ChildResult result = run_bench(tiny({"--first", "--configs", "hier,mpich", "--json", "-"}));
  if (result.errors.find("none of the configurations") != std::string::npos)
    GTEST_SKIP() << "no MPI to measure";
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = json::parse(result.output);
  EXPECT_EQ(report.at("settings").at("first"), true);
  std::vector<std::string> quantities;
  for (const json& group : report.at("groups")) {
    quantities.push_back(group.at("quantity"));
    for (const json& series : group.at("series")) {
      EXPECT_TRUE(series.at("failure").is_null()) << series.at("failure");
      const bool is_inside = series.at("name") == "mpich-inside";
      const bool is_measured =
          !is_inside || quantities.back() == "first" || quantities.back() == "cold";
      EXPECT_EQ(series.at("samples").size(), is_measured ? 1u : 0u)
          << quantities.back() << ", " << series.at("name");
    }
  }
  EXPECT_THAT(quantities, testing::ElementsAre("first", "cold", "allreduce", "init"));
}

TEST(MpiBarrierBench, MeasuresOursWhenItHasBeenBuilt) {
  const fs::path library = kPrefix / "lib/libhierbar_mpi.so";
  for (const fs::path& file : {library, worker()}) {
    if (!fs::exists(file)) GTEST_SKIP() << file << " has not been built";
  }
  const ChildResult result = run_bench({"--list", "--configs", "hier"});
  if (result.output.find("MPICH is not installed") != std::string::npos)
    GTEST_SKIP() << "no mpiexec.mpich";
  EXPECT_THAT(result.output, HasSubstr("LD_PRELOAD=" + library.string()));
}

TEST(MpiBarrierBench, MeasuresMeetingsOfLeadersBesideHier) {
  const ChildResult result =
      run_bench(tiny({"--configs", "hier", "--meetings", "library,tree:1,auto", "--json", "-"}));
  if (result.errors.find("none of the configurations") != std::string::npos)
    GTEST_SKIP() << "no MPI to measure";
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = json::parse(result.output);
  std::vector<std::string> measured;
  for (const json& series : report.at("groups").at(0).at("series")) {
    EXPECT_TRUE(series.at("failure").is_null()) << series.at("failure");
    if (!series.at("samples").empty()) measured.push_back(series.at("name"));
  }
  EXPECT_THAT(measured,
              testing::IsSupersetOf({"hier", "meet-library", "meet-tree:1", "meet-auto"}));
}

// With a cpu each, and more than cpus.
TEST(MpiCollectiveBench, MeasuresCallsOfEachSizeBesideMpiBarrier) {
  const std::string ranks =
      "2," + std::to_string(std::max(4u, 2 * static_cast<unsigned>(describe_host().cpus.size())));
  const ChildResult result =
      run_bench(tiny({"--configs", "hier,mpich,openmpi-hier", "--calls",
                      "allreduce,bcast,reduce,allgather,alltoall,gather,scatter,reduce-scatter",
                      "--bytes", "8,4096", "--json", "-"},
                     ranks),
                HIERBAR_MPI_COLLECTIVE_BENCH);
  if (result.errors.find("none of the configurations") != std::string::npos)
    GTEST_SKIP() << "no MPI to measure";
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = json::parse(result.output);
  std::vector<std::string> quantities;
  for (const json& group : report.at("groups")) {
    quantities.push_back(group.at("quantity"));
    for (const json& series : group.at("series")) {
      EXPECT_TRUE(series.at("failure").is_null()) << series.at("failure");
      if (series.at("kind") == "floor") continue;
      EXPECT_GE(series.at("samples")[0].at("ns").size(), 3u)
          << quantities.back() << ", " << series.at("name");
    }
  }
  std::vector<std::string> of_each{"barrier"};
  for (const char* call : {"allreduce", "bcast", "reduce", "allgather", "alltoall", "gather",
                           "scatter", "reduce-scatter"}) {
    for (const char* bytes : {":8", ":4096"}) of_each.push_back(std::string(call) + bytes);
  }
  ASSERT_EQ(quantities.size(), 2 * of_each.size());
  EXPECT_TRUE(std::equal(of_each.begin(), of_each.end(), quantities.begin()));
  EXPECT_TRUE(std::equal(of_each.begin(), of_each.end(),
                         quantities.begin() + static_cast<std::ptrdiff_t>(of_each.size())));
}

TEST(MpiCollectiveBench, RejectsWhatItDoesNotKnowAndNamesIt) {
  const ChildResult size = run_bench({"--bytes", "8,12"}, HIERBAR_MPI_COLLECTIVE_BENCH);
  EXPECT_THAT(size.failure, HasSubstr("exit status 2"));
  EXPECT_THAT(size.errors + size.output, HasSubstr("'12': allowed: 8, 16, 32"));
  EXPECT_THAT(run_bench({"--calls", "scan"}, HIERBAR_MPI_COLLECTIVE_BENCH).failure,
              HasSubstr("exit status 2"));
  EXPECT_THAT(run_bench({"--first"}, HIERBAR_MPI_COLLECTIVE_BENCH).failure,
              HasSubstr("exit status 2"));
}

TEST(MpiBarrierBench, SaysWhatFailedAfterItWasIdentified) {
  if (!fs::exists(worker())) GTEST_SKIP() << worker() << " has not been built";
  const Script launcher("case \"$*\" in *'--budget-ms 1 '*) echo '" + std::string(kAnswer) +
                        "';; *) echo no such host >&2; exit 4;; esac\n");
  const ChildResult result =
      run_bench(tiny({"--configs", "mpich", "--mpich-launcher", launcher.path(), "--check"}));
  EXPECT_THAT(result.failure, HasSubstr("exit status 1"));
  EXPECT_THAT(result.output, HasSubstr("failed: exit status 4: no such host"));
  EXPECT_THAT(result.output, HasSubstr("NOT MEASURED"));
}

TEST(MpiBarrierBench, SkipsALibraryThatCannotBeLaunched) {
  const Script launcher("echo no such program >&2; exit 5\n");
  const ChildResult result =
      run_bench(tiny({"--configs", "mpich", "--mpich-launcher", launcher.path()}));
  EXPECT_THAT(result.failure, HasSubstr("exit status 2"));
  EXPECT_THAT(result.output, HasSubstr("skipped: "));
  EXPECT_THAT(result.errors, HasSubstr("none of the configurations can be measured"));
}

TEST(MpiBarrierBench, RejectsWhatItDoesNotKnowAndNamesIt) {
  const ChildResult result = run_bench({"--configs", "fastest"});
  EXPECT_THAT(result.failure, HasSubstr("exit status 2"));
  EXPECT_THAT(result.errors + result.output, HasSubstr("fastest"));
  EXPECT_THAT(run_bench({"--ranks", "1"}).failure, HasSubstr("exit status 2"));
  const ChildResult meeting = run_bench({"--meetings", "bruck,tree:0"});
  EXPECT_THAT(meeting.failure, HasSubstr("exit status 2"));
  EXPECT_THAT(
      meeting.errors + meeting.output,
      HasSubstr("--meetings: 'tree:0': '0' is not a number from 1 to 255; allowed: all, library"));
  EXPECT_THAT(run_bench({"--mpich-wheel", "/nonexistent"}).failure, HasSubstr("exit status 2"));
}

TEST(MpiBarrierBench, RefusesAFileThatItCannotWriteBeforeItMeasures) {
  if (!fs::exists(worker())) GTEST_SKIP() << worker() << " has not been built";
  const Script launcher("echo '" + std::string(kAnswer) + "'\n");
  const ChildResult result = run_bench(tiny(
      {"--configs", "mpich", "--mpich-launcher", launcher.path(), "--json", "/nonexistent/file"}));
  EXPECT_THAT(result.failure, HasSubstr("exit status 2"));
  EXPECT_THAT(result.errors, HasSubstr("--json /nonexistent/file: No such file or directory"));
}

}  // namespace
}  // namespace hierbar::bench
