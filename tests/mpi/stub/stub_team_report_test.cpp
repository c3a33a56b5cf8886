// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HIERBAR_REPORT and barriers of all threads of all ranks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "oracles.hpp"
#include "report/merge.hpp"
#include "stub_trial.hpp"

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;

std::string output_name() {
  return ::testing::TempDir() + "hierbar-stub-team-report-" + std::to_string(getpid()) + "-%r";
}

report::Report take_report(const std::string& output, const std::string& rank) {
  const std::string file = output.substr(0, output.size() - 2) + rank + ".json";
  std::ifstream stream(file);
  const std::string json{std::istreambuf_iterator<char>(stream), {}};
  std::remove(file.c_str());
  return report::parse_report(json);
}

// A team of all ranks; its threads are in so many barriers. Returns the report.
report::Report run_team(const std::vector<int>& threads, const char* num_nodes, const char* sample,
                        int num_barriers) {
  const std::string output = output_name();
  const int num_ranks = static_cast<int>(threads.size());
  StubTrial trial(num_ranks, {{"HIERBAR_FAKE_NODES", num_nodes},
                              {"HIERBAR_REPORT", "json"},
                              {"HIERBAR_SAMPLE", sample},
                              {"HIERBAR_OUTPUT", output.c_str()}});
  trial.run([&](Rank& rank) {
    hierbar_team team;
    const int num_threads = threads[static_cast<std::size_t>(rank.number)];
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, num_threads, &team), MPI_SUCCESS);
    run_threads(rank, num_threads, [&](int thread) {
      EXPECT_EQ(rank.shim.team_join(team, thread), MPI_SUCCESS);
      for (int i = 0; i < num_barriers; ++i)
        EXPECT_EQ(rank.shim.team_barrier(team, thread), MPI_SUCCESS);
    });
    EXPECT_EQ(rank.shim.team_free(&team), MPI_SUCCESS);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.num_open(), 0);
  return take_report(output, num_ranks == 1 ? "0" : "all");
}

std::vector<std::string> members_of(const report::SiteReport& site) {
  std::vector<std::string> members;
  for (std::uint32_t i = 0; i < site.team_size; ++i)
    members.push_back(report::participant_name(site, i));
  return members;
}

TEST(StubTeamReports, NameTheThreadsOfAllRanks) {
  const report::Report report = run_team({1, 3, 2}, "1", "1", 60);
  ASSERT_EQ(report.sites.size(), 1u);
  const report::SiteReport& site = report.sites[0];
  EXPECT_EQ(site.kind, "team barrier");
  EXPECT_EQ(site.episodes + report.losses.left_out, 60u);
  EXPECT_EQ(site.span.count(), site.episodes);
  EXPECT_EQ(members_of(site), (std::vector<std::string>{"0.0", "1.0", "1.1", "1.2", "2.0", "2.1"}));
  ASSERT_EQ(site.threads.size(), 6u);
  std::uint64_t num_last = 0;
  for (const auto& [number, thread] : site.threads) {
    EXPECT_EQ(thread.imbalance.count(), site.episodes);
    num_last += thread.last_arrivals;
  }
  EXPECT_EQ(num_last, site.episodes);
  for (const auto& [number, thread] : site.threads) EXPECT_NE(thread.cpus, "");
  EXPECT_EQ(site.levels.exchange.count(), site.episodes);
  ASSERT_FALSE(site.levels.groups.empty());
  ASSERT_FALSE(site.levels.groups[0].groups.empty());
  EXPECT_EQ(report.num_processes, 3u);
}

TEST(StubTeamReports, KnowOneRankAlone) {
  const report::Report report = run_team({2}, "1", "1", 60);
  ASSERT_EQ(report.sites.size(), 1u);
  EXPECT_EQ(report.sites[0].episodes + report.losses.left_out, 60u);
  EXPECT_EQ(members_of(report.sites[0]), (std::vector<std::string>{"0.0", "0.1"}));
}

TEST(StubTeamReports, KnowSeveralNodes) {
  const report::Report report = run_team({2, 1, 1, 2}, "2", "3", 61);
  ASSERT_EQ(report.sites.size(), 1u);
  EXPECT_EQ(report.sites[0].kind, "team barrier, several nodes");
  EXPECT_EQ(report.sites[0].episodes + report.losses.left_out, 21u);
  EXPECT_EQ(report.sites[0].threads.size(), 6u);
}

// A thread keeps 1024 records at most; later they are thinned out.
TEST(StubTeamReports, ThinOutWhatIsTooMuch) {
  const report::Report report = run_team({1, 1}, "1", "1", 1501);
  ASSERT_EQ(report.sites.size(), 1u);
  EXPECT_EQ(report.sites[0].episodes + report.losses.left_out, 1501u);
  EXPECT_GE(report.sites[0].episodes, 500u);
  EXPECT_LE(report.sites[0].episodes, 1024u);
}

// The report may lack the team, but nobody hangs.
TEST(StubTeamReports, AFailingCallNeverPartsTheRanks) {
  for (const auto& [function, num_calls] : {std::pair{"Allreduce", 3}, std::pair{"Alltoall", 2}}) {
    for (int call = 1; call <= num_calls; ++call) {
      const std::string output = output_name();
      StubTrial trial(2, {{"HIERBAR_REPORT", "json"}, {"HIERBAR_OUTPUT", output.c_str()}});
      trial.run([&, script = StubScript{function, call, false, true}](Rank& rank) {
        hierbar_team team;
        EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, 2, &team), MPI_SUCCESS);
        run_threads(rank, 2, [&](int thread) {
          EXPECT_EQ(rank.shim.team_join(team, thread), MPI_SUCCESS);
          for (int i = 0; i < 20; ++i) EXPECT_EQ(rank.shim.team_barrier(team, thread), MPI_SUCCESS);
        });
        if (rank.number == 1) rank.process.obey(script);
        EXPECT_EQ(rank.shim.team_free(&team), MPI_SUCCESS);
        rank.process.obey({});
        rank.shim.finalize();
      });
      EXPECT_EQ(take_report(output, "all").num_processes, 2u) << function << " " << call;
    }
  }
}

}  // namespace
}  // namespace hierbar::test
