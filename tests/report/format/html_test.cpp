// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/format/html.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/merge.hpp"

namespace hierbar::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Report small_report(long rank) {
  Report report;
  report.process = {.host = "node", .pid = 7, .rank = rank};
  SiteReport& site = report.sites.emplace_back();
  site.where = "f<a & \"b\">::g(</script><script>alert(1)</script>)+0x10";
  site.kind = "explicit";
  site.team_size = 2;
  site.episodes = 4;
  for (std::uint64_t i = 0; i < 4; ++i) site.threads[0].imbalance.add(1000 * i);
  for (std::uint64_t i = 0; i < 4; ++i) site.threads[1].imbalance.add(0);
  site.threads[1].last_arrivals = static_cast<std::uint64_t>(rank) + 3;
  site.imbalance = site.threads[0].imbalance;
  return report;
}

// What is between the data element's tags, as a browser reads it: up to the first end tag.
nlohmann::json data_of(const std::string& page) {
  const std::string tag = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(tag) + tag.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script", begin) - begin));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(HtmlReport, NeverTakesANameForMarkup) {
  Report report = small_report(0);
  report.process.host = "<b>\"node\" & co";
  const std::string page = to_html(report);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_EQ(count(page, "<script"), 2U)
      << "the data and the script, and nothing that a name brought in";
  EXPECT_EQ(count(page, "</script>"), 2U);
  EXPECT_THAT(page, HasSubstr("f&lt;a &amp; &quot;b&quot;&gt;::g(&lt;/script&gt;"))
      << "in the text";
  EXPECT_EQ(data_of(page).at("sites").at(0).at("site"), report.sites[0].where)
      << "in the data, as it was";
}

TEST(HtmlReport, IsUtf8WhateverTheSymbols) {
  Report report = small_report(0);
  report.process.host = "caf\xE9";
  report.sites[0].where = "caf\xE9+0x1";
  const std::string page = to_html(report);
  EXPECT_EQ(page.find('\xE9'), std::string::npos);
  EXPECT_THAT(data_of(page).at("sites").at(0).at("site").get<std::string>(),
              HasSubstr("caf\xEF\xBF\xBD+0x1"));
}

TEST(HtmlReport, WithoutBarriersIsAPage) {
  const std::string page = to_html(Report{});
  EXPECT_TRUE(data_of(page).at("sites").empty());
  EXPECT_THAT(page, HasSubstr("no barrier of more than one thread was seen"));
  EXPECT_THAT(page, HasSubstr("</html>"));
}

TEST(HtmlReport, LoadsNothing) {
  const std::string page = to_html(small_report(0));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("href=")));
  EXPECT_THAT(page, Not(HasSubstr("url(")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  EXPECT_EQ(count(page, "http"), count(page, "http://www.w3.org/2000/svg"))
      << "SVG's name, which nobody loads";
}

TEST(HtmlReport, HasARowForEachProcess) {
  Report report = small_report(0);
  merge_report(report, small_report(1));
  const auto rows = data_of(to_html(report)).at("sites").at(0).at("processes");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.at(1).at("name"), "rank 1");
  EXPECT_EQ(rows.at(1).at("last_arrivals"), nlohmann::json({0, 4}));
}

TEST(HtmlReport, CallsRanksRanks) {
  Report report = small_report(0);
  EXPECT_EQ(data_of(to_html(report)).at("sites").at(0).at("participant"), "thread");
  report.sites[0].kind = "MPI_Barrier";
  EXPECT_EQ(data_of(to_html(report)).at("sites").at(0).at("participant"), "rank");
}

TEST(HtmlReport, CallsThreadsOfSeveralRanksByBoth) {
  Report report = small_report(0);
  EXPECT_FALSE(data_of(to_html(report)).at("sites").at(0).contains("members"));
  report.sites[0].kind = "team barrier";
  report.sites[0].threads_of_ranks = {1, 1};
  EXPECT_EQ(data_of(to_html(report)).at("sites").at(0).at("members"),
            nlohmann::json({"0.0", "1.0"}));
}

TEST(HtmlReport, SaysWhereBucketsEnd) {
  const auto site = data_of(to_html(small_report(0))).at("sites").at(0);
  const auto& buckets = site.at("imbalance_ns").at("buckets");
  ASSERT_EQ(buckets.size(), 4U);
  EXPECT_EQ(buckets.at(0), nlohmann::json({0, 1, 1}));
  EXPECT_EQ(buckets.at(1), nlohmann::json({960, 1024, 1})) << "1000 ns";
  EXPECT_FALSE(site.at("threads").at(0).at("imbalance_ns").contains("buckets"));
}

}  // namespace
}  // namespace hierbar::report
