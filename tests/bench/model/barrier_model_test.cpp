// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs the program as people do and reads what it says. The model is deterministic, so its figures
// can be judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/common/child_process.hpp"

namespace hierbar::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::StartsWith;

ChildResult run_model(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HIERBAR_BARRIER_MODEL);
  return run_child(arguments, {}, std::chrono::minutes(4));
}

json report_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--json", "-"});
  const ChildResult result = run_model(arguments);
  EXPECT_EQ(result.failure, "") << result.errors;
  return result.failure.empty() ? json::parse(result.output) : json::object();
}

// A directory that disappears with the test.
class Scratch {
 public:
  Scratch() : dir_(fs::temp_directory_path() / ("barrier_model_test_" + std::to_string(getpid()))) {
    fs::create_directory(dir_);
  }
  ~Scratch() { fs::remove_all(dir_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return dir_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

 private:
  const fs::path dir_;
};

TEST(BarrierModel, ReproducesThePapersTables) {
  const json table = report_of({"table"});
  EXPECT_THAT(table.at("train_mape_percent").get<double>(), Le(9));
  EXPECT_THAT(table.at("heldout_mape_percent").get<double>(), Le(15));
  // The null model is the paper's own figures alone.
  EXPECT_NEAR(table.at("null_mape_percent").get<double>(), 15.05, 0.1);
  EXPECT_NEAR(table.at("null_mape_percent_by_mapping").at("numa").get<double>(), 15.9, 0.1);
  EXPECT_NEAR(table.at("null_mape_percent_by_mapping").at("socket").get<double>(), 14.2, 0.1);
  EXPECT_THAT(table.at("spearman").at("core").get<double>(), Ge(0.90));
  EXPECT_THAT(table.at("spearman").at("numa").get<double>(), Ge(0.73));
  EXPECT_THAT(table.at("spearman").at("socket").get<double>(), Ge(0.50));
  EXPECT_EQ(table.at("fastest").at("numa"), "topo-NUMA");
  EXPECT_EQ(table.at("fastest").at("socket"), "topo-NUMA");
  EXPECT_THAT(table.at("without_topo").at("worst_percent").get<double>(), Le(35));
  EXPECT_TRUE(table.at("without_topo").at("right_order").get<bool>());
  EXPECT_THAT(table.at("gain_over_topo_numa").at("min").get<double>(), Ge(1.3));
  EXPECT_THAT(table.at("gain_over_topo_numa").at("median").get<double>(), Ge(1.8));
  EXPECT_THAT(table.at("variation_over_mappings_percent").get<double>(), Le(3));
  EXPECT_THAT(table.at("parameter_sets").size(), Ge(10U));
  EXPECT_EQ(table.at("cells").size(), 37U);
}

TEST(BarrierModel, SaysTheSameAgain) {
  const auto figures = [] {
    json report = report_of({"compare", "--participants", "16", "--seed", "5"});
    report.erase("simulation");  // how long it took
    return report;
  };
  EXPECT_EQ(figures(), figures());
}

// Four times as slow as it must be where nothing else runs; the processor's time depends little on
// what else does.
constexpr double kMargin = 4;

TEST(BarrierModel, TheEngineIsFastestOnThePapersMachine) {
  const json report = report_of({"compare"});
  ASSERT_EQ(report.at("rows").size(), 10U);
  const json& engine = report.at("rows").at(0);
  EXPECT_EQ(engine.at("name"), "hier");
  for (const json& row : report.at("rows")) {
    for (const char* metric : {"period", "isolated"}) {
      EXPECT_THAT(engine.at(metric).at("median_ns").get<double>(),
                  Le(row.at(metric).at("median_ns").get<double>()))
          << row;
    }
  }
  EXPECT_THAT(report.at("simulation").at("cpu_ms_each").get<double>(), Le(kMargin * 0.5));
}

TEST(BarrierModel, GrowsToManyCores) {
  const json report = report_of({"scale", "--counts", "8,256"});
  EXPECT_EQ(report.at("rows").size(), 20U);
  EXPECT_EQ(report.at("rows").back().at("participants"), 256);
}

TEST(BarrierModel, TheEngineIsFastestOnManyCoresInEverySet) {
  const json report = report_of({"scale", "--counts", "512", "--check"});
  EXPECT_THAT(report.at("least_gain_over_classic").get<double>(), Ge(1.5));
  EXPECT_THAT(report.at("simulation").at(0).at("cpu_ms_each").get<double>(), Le(kMargin * 10));
}

TEST(BarrierModel, ChecksTheTargetOfManyCores) {
  const ChildResult result = run_model({"scale", "--counts", "8", "--check"});
  EXPECT_THAT(result.failure, StartsWith("exit status 1"));
  EXPECT_THAT(result.output, HasSubstr("MISSED  8 participants"));
  EXPECT_THAT(result.output, HasSubstr("ms each"));
}

TEST(BarrierModel, OneBarrierOfManyCoresThreadsBeatsOmpAndMpiAndOmp) {
  const json rows = report_of({"hybrid", "--ranks", "8,2"}).at("rows");
  for (const json& row : rows) {
    EXPECT_THAT(row.at("period").at("ratio").at("median").get<double>(), Le(0.6)) << row;
    EXPECT_THAT(row.at("isolated").at("ratio").at("most").get<double>(), Le(0.8)) << row;
  }
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_THAT(run_model({"hybrid", "-n", "8"}).errors, HasSubstr("-n: is called --participants"));
  EXPECT_THAT(run_model({"hybrid", "--participants", "10", "--ranks", "4"}).errors,
              HasSubstr("4 ranks do not divide 10 participants"));
}

TEST(BarrierModel, ForksAndJoinsRegionsOfManyCores) {
  const json report = report_of({"region", "--machine", "milan", "--threads", "128"});
  ASSERT_EQ(report.at("rows").size(), 7U);
  EXPECT_EQ(report.at("rows").at(0).at("name"), "lean");
  for (const json& row : report.at("rows")) {
    // In each parameter set the halves add up, but neither their medians nor their extremes need be
    // of the same set.
    const auto halves = [&row](const char* which) {
      return row.at("fork").at(which).get<double>() + row.at("join").at(which).get<double>();
    };
    EXPECT_THAT(row.at("isolated").at("least_ns").get<double>(), Ge(halves("least_ns") - 1)) << row;
    EXPECT_THAT(row.at("isolated").at("most_ns").get<double>(), Le(halves("most_ns") + 1)) << row;
    if (!row.at("is_stock").get<bool>()) continue;
    EXPECT_THAT(row.at("period").at("to_best_stock").at("least").get<double>(), Ge(1)) << row;
  }
}

TEST(BarrierModel, SaysWhatTheMachineOfARegionMustHave) {
  EXPECT_THAT(run_model({"region", "--threads", "129"}).errors,
              HasSubstr("129 participants: the machine has 128 cpus"));
  EXPECT_THAT(run_model({"region", "--home", "nowhere"}).errors, HasSubstr("--home"));
}

TEST(BarrierModel, PredictsTheDecodesOfManyCores) {
  const json report = report_of({"decode", "--machine", "milan", "--threads", "16,128,512"});
  EXPECT_TRUE(report.at("is_simulated").get<bool>());
  const json& rows = report.at("rows");
  ASSERT_EQ(rows.size(), 12U) << "512 threads are more than the machine has";
  const auto share = [&](std::size_t row) {
    return rows.at(row).at("sync_share").at("median").get<double>();
  };
  EXPECT_NEAR(report.at("graph_work_ns").get<double>(), 25.2e6, 1e4);
  EXPECT_EQ(rows.at(0).at("name"), "hier");
  EXPECT_EQ(rows.at(1).at("name"), "sense-reversing");
  EXPECT_EQ(rows.at(2).at("name"), "lean");
  for (std::size_t row = 0; row < 6; ++row) {
    const json& few = rows.at(row);
    EXPECT_EQ(few.at("threads"), 16);
    EXPECT_NEAR(few.at("ideal_ns").get<double>() * 16, report.at("graph_work_ns").get<double>(), 1);
    EXPECT_NEAR(
        few.at("graph").at("median_ns").get<double>(),
        few.at("ideal_ns").get<double>() + 2000 * few.at("step").at("median_ns").get<double>(), 1)
        << few;
    EXPECT_GT(share(row + 6), share(row)) << "more threads have less work for each barrier";
    EXPECT_LT(share(row + 6), 1);
    if (row != 0 && row != 2) {
      EXPECT_GT(share(row + 6), share(row > 2 ? 8 : 6)) << rows.at(row + 6).at("name");
    }
  }
}

TEST(BarrierModel, SaysThatADecodeIsSimulatedAndWhatItsMachineMustHave) {
  EXPECT_THAT(run_model({"decode", "--machine", "graviton", "--threads", "8"}).output,
              HasSubstr("SIMULATED: no decode was measured"));
  // Its 128 cpus are those of 64 cores.
  EXPECT_THAT(run_model({"decode", "--machine", "icelake", "--threads", "128"}).errors,
              HasSubstr("--threads: the machine has 64 cores"));
}

TEST(BarrierModel, FindsShapesThatAreNoWorseThanTheAutomaticPlan) {
  const json report = report_of({"design", "--participants", "32"});
  EXPECT_THAT(report.at("rows").at(2).at("regret").get<double>(),
              Le(report.at("rows").at(0).at("regret").get<double>()));
}

TEST(BarrierModel, TakesATopologyAndAMatrix) {
  const Scratch scratch;
  const std::string matrix = scratch.write("c2c.csv", ",,,\n20,,,\n90,90,,\n90,90,20,\n");
  const std::vector<std::string> arguments{"compare", "--topology", "pack:2 l3:1 core:2 pu:1",
                                           "--c2c"};
  const auto period = [&](const std::string& path) {
    std::vector<std::string> all = arguments;
    all.push_back(path);
    return report_of(all).at("rows").at(0).at("period").at("median_ns").get<double>();
  };
  const std::string slower = scratch.write("slower.csv", ",,,\n20,,,\n900,900,,\n900,900,20,\n");
  EXPECT_GT(period(slower), 3 * period(matrix));
}

TEST(BarrierModel, RefusesAMatrixThatIsNone) {
  const Scratch scratch;
  std::vector<std::string> arguments{"compare", "--topology", "pack:2 l3:1 core:2 pu:1", "--c2c",
                                     scratch.write("c2c.csv", "1,x\n,\n")};
  ChildResult result = run_model(arguments);
  EXPECT_THAT(result.failure, StartsWith("exit status 2"));
  EXPECT_THAT(result.errors, HasSubstr("row 1: 'x'; allowed: a latency in ns, or nothing"));
  arguments.back() = scratch.write("big.csv", ",\n,\n,\n,\n,\n");
  result = run_model(arguments);
  EXPECT_THAT(result.errors, HasSubstr("the matrix has 5 rows, but the machine no cpu 4"));
}

TEST(BarrierModel, RefusesBadInput) {
  ChildResult result = run_model({"table", "--machine", "abacus"});
  EXPECT_THAT(result.failure, StartsWith("exit status 2"));
  EXPECT_THAT(
      result.errors,
      HasSubstr(
          "--machine: 'abacus': no such machine; allowed: a file that ends in .json, or graviton"));
  result = run_model({"compare", "--map", "none"});
  EXPECT_THAT(result.failure, StartsWith("exit status 2"));
  EXPECT_THAT(result.errors, HasSubstr("allowed: core, numa, package"));
  result = run_model({"table", "--machine", "graviton"});
  EXPECT_THAT(result.failure, StartsWith("exit status 2"));
  EXPECT_THAT(
      result.errors,
      HasSubstr("128 participants: the machine has 64 cpus, and sharing a cpu is not modelled"));
}

TEST(BarrierModel, CalibratesAFileThatItReads) {
  const Scratch scratch;
  const std::string file = scratch.path("try.json");
  const ChildResult result =
      run_model({"calibrate", "--output", file, "--sets", "pinned-domain-1", "--generations", "1"});
  ASSERT_EQ(result.failure, "") << result.errors;
  const json report = report_of({"compare", "--machine", file, "--participants", "8"});
  EXPECT_EQ(report.at("machine"), "2 x Kunpeng 920-6426");
}

json file_at(const std::string& path) { return json::parse(std::ifstream(path)); }

// The first steps of the search that made the committed file; all 80 take minutes for each set.
TEST(BarrierModel, CalibratesTheCommittedFileAgain) {
  const Scratch scratch;
  const std::string path = scratch.path("kunpeng920.json");
  const ChildResult result =
      run_model({"calibrate", "--output", path, "--sets", "free-global-1", "--generations", "1"});
  ASSERT_EQ(result.failure, "") << result.errors;
  json file = file_at(path);
  const json set = file.at("parameter_sets").at(0);
  EXPECT_EQ(set.at("costs").at("latency_cluster").get<double>(), 58.937161);
  EXPECT_EQ(set.at("costs").at("notice").get<double>(), 108.683519);
  EXPECT_EQ(set.at("costs").at("link").get<double>(), 9.247367);

  json committed = file_at(HIERBAR_KUNPENG_FILE);
  const json& sets = committed.at("parameter_sets");
  const auto same = std::find_if(sets.begin(), sets.end(),
                                 [&](const json& s) { return s.at("name") == set.at("name"); });
  ASSERT_NE(same, sets.end());
  for (const char* key : {"trained_on", "pinned", "read_queue", "seed"})
    EXPECT_EQ(same->at(key), set.at(key)) << key;
  file.erase("parameter_sets");
  committed.erase("parameter_sets");
  EXPECT_EQ(file, committed);
}

// In a directory that others may write to, a link of the output's name could lead to any file.
TEST(BarrierModel, ReplacesALinkAndLeavesWhatItLeadsTo) {
  const Scratch scratch;
  const std::string target = scratch.write("target", "precious");
  const std::string link = scratch.path("link");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"compare", "--participants", "8", "--json"},
           {"calibrate", "--sets", "pinned-domain-1", "--generations", "1", "--output"}}) {
    fs::create_symlink(target, link);
    std::vector<std::string> arguments = command;
    arguments.push_back(link);
    EXPECT_EQ(run_model(arguments).failure, "") << command.front();
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(link))) << command.front();
    EXPECT_EQ(fs::file_size(target), std::string("precious").size()) << command.front();
    fs::remove(link);
  }
}

}  // namespace
}  // namespace hierbar::bench
