// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "report/files.hpp"
#include "report/merge.hpp"
#include "report/report.hpp"
#include "trace/stamps.h"

namespace hierbar::report {
namespace {

using testing::HasSubstr;

Report small_report() {
  Report report;
  report.process = {.host = "node", .pid = 7};
  report.runtime = "some OpenMP";
  report.clock = "a clock";
  report.levels = "not available";
  SiteReport& site = report.sites.emplace_back();
  site.where = "solve(\"x\")+0x10 (a.out)";
  site.kind = "explicit";
  site.team_size = 2;
  site.episodes = 4;
  for (std::uint64_t i = 0; i < 4; ++i) {
    site.threads[0].imbalance.add(1000 * i);
    site.threads[1].imbalance.add(0);
    site.span.add(50);
  }
  site.threads[1].last_arrivals = 4;
  site.imbalance.merge(site.threads[0].imbalance);
  site.imbalance.merge(site.threads[1].imbalance);
  return report;
}

TEST(Report, InJsonHoldsTheHistograms) {
  const auto json = nlohmann::json::parse(to_json(small_report()));
  const auto& site = json.at("sites").at(0);
  EXPECT_EQ(site.at("site"), "solve(\"x\")+0x10 (a.out)");
  EXPECT_EQ(site.at("imbalance_ns").at("sum"), 6000);
  EXPECT_EQ(site.at("threads").at(1).at("last_arrivals"), 4);
  std::uint64_t count = 0;
  for (const auto& bucket : site.at("imbalance_ns").at("buckets"))
    count += bucket.at(1).get<std::uint64_t>();
  EXPECT_EQ(count, site.at("imbalance_ns").at("count"));
}

TEST(Report, IsTheSameWhenReadAgain) {
  Report report = small_report();
  report.sites[0].levels.gather.resize(2);
  report.sites[0].levels.gather[1].add(20);
  report.sites[0].levels.release.resize(2);
  report.sites[0].levels.exchange.add(30);
  report.sites[0].levels.outside.add(7);
  report.sites[0].levels.groups =
      Shape(1, {0, 0, 1}, {HIERBAR_UNIT_L3, HIERBAR_UNIT_L2, 0}, HIERBAR_UNIT_NUMA).levels;
  EXPECT_THAT(to_json(report), HasSubstr("gather 2 (L2)"));
  EXPECT_EQ(to_json(parse_report(to_json(report))), to_json(report));
}

TEST(Report, OfTwoProcessesAddsUp) {
  Report report = small_report(), other = small_report();
  other.sites.push_back(other.sites[0]);
  other.sites[1].kind = "workshare";
  merge_report(report, parse_report(to_json(other)));
  ASSERT_EQ(report.sites.size(), 2U);
  EXPECT_EQ(report.num_processes, 2U);
  EXPECT_EQ(report.sites[0].episodes, 8U);
  EXPECT_EQ(report.sites[0].imbalance.sum_ns(), 12000U);
  EXPECT_EQ(report.sites[0].threads[1].last_arrivals, 8U);
  EXPECT_EQ(report.sites[1].imbalance.sum_ns(), 6000U);
}

// What an older tool, or one on an older libomp, wrote has numbers only.
TEST(Report, NamesLevelsByWhatTheirThreadsShare) {
  Report named = small_report(), unnamed = small_report();
  for (Report* report : {&named, &unnamed}) {
    LevelTimes& levels = report->sites[0].levels;
    levels.gather.resize(1);
    levels.gather[0].add(20);
    levels.exchange.add(30);
    levels.outside.add(7);
  }
  named.sites[0].levels.groups = Shape(1, {0, 0}, {HIERBAR_UNIT_L3, 0}, HIERBAR_UNIT_NUMA).levels;
  for (const std::string& text : {to_text(named), to_csv(named)}) {
    EXPECT_THAT(text, HasSubstr("gather 1 (L3)"));
    EXPECT_THAT(text, HasSubstr("exchange (NUMA)"));
  }
  EXPECT_THAT(to_text(named), HasSubstr("L3 {0-1}"));
  EXPECT_THAT(to_csv(unnamed), HasSubstr(",gather 1,"));
  merge_report(unnamed, parse_report(to_json(named)));
  EXPECT_THAT(to_csv(unnamed), HasSubstr(",gather 1 (L3),"));
}

TEST(Report, NamesTheThreadsOfAllRanks) {
  Report report = small_report(), other = small_report();
  for (Report* part : {&report, &other}) part->sites[0].kind = kind_name(kTeamBarrier);
  report.sites[0].threads_of_ranks = {1, 1};
  report.sites[0].levels.groups = Shape(1, {0, 0}, {HIERBAR_UNIT_L3, 0}, HIERBAR_UNIT_NUMA).levels;
  EXPECT_THAT(to_text(report), HasSubstr("rank.thread "));
  EXPECT_THAT(to_text(report), HasSubstr("L3 {0.0 1.0}"));
  const auto site = nlohmann::json::parse(to_json(report)).at("sites").at(0);
  EXPECT_EQ(site.at("threads").at(1).at("member"), "1.0");
  EXPECT_EQ(site.at("groups").back().at("members"), nlohmann::json({"0.0", "1.0"}));
  merge_report(other, parse_report(to_json(report)));
  ASSERT_EQ(other.sites.size(), 1U);
  EXPECT_EQ(participant_name(other.sites[0], 1), "1.0");
  EXPECT_EQ(participant_name(other.sites[0], 2), "2") << "of no rank";
}

TEST(Report, ThatIsSomethingElseIsRefused) {
  for (const char* text : {"", "{}", "[1]", "{\"format\": 2}"})
    EXPECT_THROW(parse_report(text), std::runtime_error) << text;
  // Of a page, for instance: in words, and not in those of the library that parses.
  try {
    parse_report("<!doctype html>");
    FAIL() << "it is no report";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "it is not JSON, from byte 1 on");
  }
}

TEST(Report, InCsvHasAsManyFieldsInEveryLine) {
  std::string text = to_csv(small_report());
  EXPECT_THAT(text, HasSubstr("\"solve(\"\"x\"\")+0x10 (a.out)\""));
  std::size_t num_lines = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    ASSERT_NE(end, std::string::npos);
    const std::string line = text.substr(begin, end - begin);
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 16) << line;
    begin = end + 1;
    ++num_lines;
  }
  EXPECT_EQ(num_lines, 1U + 2U + 2U)
      << "the header, all threads' imbalance and the barrier, each thread's imbalance";
}

TEST(Report, InTextSaysWhatItMeasuredWith) {
  const std::string text = to_text(small_report());
  for (const char* part :
       {"some OpenMP", "a clock", "not available", "solve(\"x\")", "100.0%", "imbalance"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(to_text(Report{}), HasSubstr("no barrier of more than one thread"));
}

TEST(Report, HidesWhatTheClockCannotTell) {
  Report report = small_report();
  report.resolution_ns = 10;
  LevelTimes& levels = report.sites[0].levels;
  levels.gather.resize(1);
  levels.gather[0].add(19);
  levels.exchange.add(20);
  levels.outside.add(500);
  EXPECT_THAT(to_text(report), HasSubstr("hidden, below twice the clock's resolution: gather 1\n"));
  EXPECT_THAT(to_text(report), HasSubstr("\n    exchange "));
  EXPECT_THAT(to_csv(report), testing::Not(HasSubstr("gather 1")));
  EXPECT_THAT(to_csv(report), HasSubstr(",exchange,"));
  const auto site = nlohmann::json::parse(to_json(report)).at("sites").at(0);
  EXPECT_EQ(site.at("hidden"), "gather 1");
  EXPECT_EQ(site.at("levels").size(), 3U) << "they can be merged";
}

TEST(Report, TellsHowFarClocksAreApart) {
  Report report = small_report();
  report.offset = {.num_packages = 1, .offset_ns = 0, .error_ns = 0, .problem = ""};
  EXPECT_THAT(to_text(report), HasSubstr("one package"));
  Report other = small_report();
  other.offset = {.num_packages = 2, .offset_ns = 30, .error_ns = 70, .problem = ""};
  merge_report(report, parse_report(to_json(other)));
  EXPECT_THAT(to_text(report),
              HasSubstr("30 ns at most between the clocks of 2 packages, known to 70 ns"));
  other.offset.problem = "busy";
  merge_report(report, other);
  EXPECT_THAT(to_text(report), HasSubstr("not measured: busy"));
}

TEST(Report, NamesWhereAnAddressIs) {
  const auto name = [](std::uintptr_t address) {
    const auto* const at = reinterpret_cast<const void*>(address);
    return to_string(place_of(at), at);
  };
  const auto function = reinterpret_cast<std::uintptr_t>(&std::strtol);
  EXPECT_THAT(name(function + 1), HasSubstr("strtol"))
      << "the byte behind a call is its function's";
  EXPECT_EQ(name(0), "(address not told)");
  EXPECT_EQ(name(16), "0x10");
}

TEST(Report, ThatCannotBeWrittenIsOneMessage) {
  for (const char* name : {"/dev/full", "/no/such/directory/report.txt"}) {
    testing::internal::CaptureStderr();
    EXPECT_FALSE(write_file(name, std::string(100000, 'x')));
    const std::string message = testing::internal::GetCapturedStderr();
    EXPECT_THAT(message, HasSubstr(name));
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
  }
}

// small_report() with one member of its site replaced.
std::string with_member(const char* name, const nlohmann::json& value) {
  nlohmann::json json = nlohmann::json::parse(to_json(small_report()));
  json["sites"][0][name] = value;
  return json.dump();
}

TEST(Report, WithNumbersThatCannotBeIsRefusedWithTheNumber) {
  for (const nlohmann::json& bad : {nlohmann::json(-1), nlohmann::json(1e300), nlohmann::json(0.5),
                                    nlohmann::json("2"), nlohmann::json(1ULL << 32)}) {
    try {
      (void)parse_report(with_member("team_size", bad));
      ADD_FAILURE() << bad;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(bad.dump()));
      EXPECT_THAT(error.what(), HasSubstr("from 0 to 4294967295"));
    }
  }
}

// A row has a number for each thread, whether the file tells of it or not.
TEST(Report, OfAThreadWithoutMostOfItsTeamIsRefused) {
  nlohmann::json json = nlohmann::json::parse(to_json(small_report()));
  nlohmann::json& site = json["sites"][0];
  site["team_size"] = 0xFFFF'FFFFU;
  site["threads"][1]["thread"] = 4'000'000;
  EXPECT_NO_THROW(parse_report(json.dump()));
  site["threads"][1]["thread"] = 5'000'000;
  EXPECT_THROW(parse_report(json.dump()), std::runtime_error);
}

TEST(Report, InTextHasLongNamesAndTheirLinesEnds) {
  Report report = small_report();
  report.sites[0].where = std::string(2000, 'x');
  EXPECT_THAT(to_text(report),
              HasSubstr(report.sites[0].where + ", explicit, 2 threads, 4 barriers\n"));
}

TEST(Report, InTextControlsNoTerminal) {
  Report report = small_report();
  for (std::string* name :
       {&report.process.host, &report.runtime, &report.clock, &report.levels, &report.placement,
        &report.offset.problem, &report.sites[0].where, &report.sites[0].kind}) {
    *name = "a\x1B[2J\nb\xC2\x9B";
  }
  const std::string text = to_text(report);
  EXPECT_EQ(text.find('\x1B'), std::string::npos);
  EXPECT_EQ(text.find("\xC2\x9B"), std::string::npos);
  EXPECT_THAT(text, HasSubstr("a?[2J?b?, a?[2J?b?, 2 threads"));
}

TEST(Report, InCsvHasNamesOfLevelsInQuotesWhereTheyNeedThem) {
  Report report = small_report();
  LevelTimes& levels = report.sites[0].levels;
  levels.gather.resize(1);
  levels.gather[0].add(1000);
  levels.outside.add(1000);
  levels.groups = {{"", {}}, {"L3, \"big\"" + std::string(300, 'x'), {}}};
  EXPECT_THAT(to_csv(report), HasSubstr(",all,\"gather 1 (L3, \"\"big\"\"" + std::string(300, 'x') +
                                        ")\",1,1000.0,"));
}

using testing::ElementsAre;

Report report_of(long rank, const std::string& kind,
                 const std::vector<std::uint64_t>& last_arrivals) {
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
  EXPECT_THAT(all.sites[0].rows, ElementsAre(testing::Field(&ProcessRow::name, "rank 0"),
                                             testing::Field(&ProcessRow::name, "rank 1"),
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
