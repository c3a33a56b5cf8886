// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/process_rows.hpp"

#include <gmock/gmock.h>

#include "report/merge.hpp"

namespace hierbar::report {
namespace {

using testing::ElementsAre;

Report report_of(long rank, const std::string& kind, const std::vector<std::uint64_t>& last_arrivals) {
  Report report;
  report.process = {.host = "node" + std::to_string(rank), .pid = 70 + rank, .rank = rank};
  SiteReport& site = report.sites.emplace_back();
  site.where = "f+0x10";
  site.kind = kind;
  site.team_size = static_cast<std::uint32_t>(last_arrivals.size());
  for (std::uint32_t i = 0; i < last_arrivals.size(); ++i) {
    site.threads[i].imbalance.add(1);
    site.threads[i].last_arrivals = last_arrivals[i];
    site.episodes += last_arrivals[i];
  }
  return report;
}

TEST(ProcessRows, OfASingleProcessIsItself) {
  Report report = report_of(3, "explicit", {1, 4});
  const std::vector<ProcessRow> rows = rows_of(report, report.sites[0]);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name, "rank 3");
  EXPECT_EQ(rows[0].host, "node3");
  EXPECT_EQ(rows[0].episodes, 5U);
  EXPECT_THAT(rows[0].last_arrivals, ElementsAre(1, 4));
  report.process.rank = -1;
  EXPECT_EQ(rows_of(report, report.sites[0])[0].name, "process 73");
}

TEST(ProcessRows, AreKeptThroughMergesAndFiles) {
  Report report = report_of(0, "explicit", {1, 4});
  merge_report(report, parse_report(to_json(report_of(1, "explicit", {5, 0}))));
  Report all = parse_report(to_json(report));
  merge_report(all, report_of(2, "explicit", {2, 2}));
  EXPECT_THAT(all.sites[0].rows,
              ElementsAre(testing::Field(&ProcessRow::name, "rank 0"), testing::Field(&ProcessRow::name, "rank 1"),
                          testing::Field(&ProcessRow::name, "rank 2")));
  EXPECT_THAT(all.sites[0].rows[1].last_arrivals, ElementsAre(5, 0));
  EXPECT_EQ(all.sites[0].rows[1].host, "node1") << "and not 'several hosts'";
}

// Each of them knows its own arrivals only.
TEST(ProcessRows, OfRanksThatMeetAreOne) {
  Report report = report_of(0, "MPI_Barrier", {1, 0});
  merge_report(report, parse_report(to_json(report_of(1, "MPI_Barrier", {0, 4}))));
  const std::vector<ProcessRow> rows = rows_of(report, report.sites[0]);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].episodes, 5U);
  EXPECT_THAT(rows[0].last_arrivals, ElementsAre(1, 4));
}

}  // namespace
}  // namespace hierbar::report
