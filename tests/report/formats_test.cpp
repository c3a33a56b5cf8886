// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every format makes of one record is compared, byte for byte, with formats.txt.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "report/format/html.hpp"
#include "report/merge.hpp"
#include "report/report.hpp"
#include "trace/ompt_api.h"

namespace hierbar::report {
namespace {

// A thread's figures at a site, and, for thread 0, those of the barriers there.
void record(Report& report, std::uint32_t me, const Site& site, std::uint64_t ns) {
  const Shape shape(1, {0, 0, 1}, {HIERBAR_UNIT_L3, HIERBAR_UNIT_L2, 0}, HIERBAR_UNIT_NUMA);
  RecordedTeam::Tables tables;
  ThreadTimes& times = tables.threads.at(site);
  times.imbalance.add(10 * ns);
  times.imbalance.add(3);
  times.sync.add(ns);
  times.tasks_ns = 7 * me;
  times.last_arrivals = me;
  if (me == 0) {
    BarrierTimes& barriers = tables.barriers.at(site);
    barriers.span.add(2 * ns);
    barriers.levels = std::make_unique<LevelTimes>();
    barriers.levels->gather.resize(2);
    barriers.levels->gather[1].add(4);
    barriers.levels->release.resize(2);
    barriers.levels->exchange.add(2 * ns - 4);
    barriers.levels->outside.add(0);
    barriers.levels->total_ns = 2 * ns;
    barriers.shape = &shape;
    if (site.kind == kTeamBarrier) barriers.threads_of_ranks = {1, 2};
  }
  tables.losses = {1, 2, me};
  add_tables(report, me, tables, std::to_string(me) + "-" + std::to_string(me + 1));
}

Report of_process(long rank) {
  Report report;
  report.process = {.host = "node \"a\"", .pid = 70 + rank, .rank = rank, .job = "11"};
  report.runtime = "some OpenMP";
  report.clock = "a clock";
  report.resolution_ns = 5;
  report.stamp_ns = 12.5;
  report.offset = {.num_packages = 2, .offset_ns = 30, .error_ns = 7, .problem = ""};
  report.every = 3;
  report.levels = "by the runtime";
  report.placement = "as it was";
  report.idle_ns = 1'234'567'890;
  report.trace = {40, 2};
  const auto place = [](std::uintptr_t address) { return reinterpret_cast<const void*>(address); };
  for (std::uint32_t me = 0; me < 3; ++me) {
    record(report, me, {place(16), ompt_sync_region_barrier_explicit, 3},
           100 + me + static_cast<std::uint64_t>(rank));
    record(report, me, {place(32), kTeamBarrier, 3}, 1000 + me);
  }
  record(report, static_cast<std::uint32_t>(rank), {place(48), kMpiBarrier, 2}, 200);
  sort_sites(report);
  return report;
}

// A line for each site, so that a difference can be read.
std::string in_lines(const std::string& json) {
  const auto value = nlohmann::ordered_json::parse(json);
  EXPECT_EQ(value.dump(1) + "\n", json);
  std::string lines = value.dump();
  for (std::size_t at = 0; (at = lines.find(",{\"site\"", at)) != std::string::npos; at += 2)
    lines.insert(at + 1, "\n");
  return lines + "\n";
}

std::string data_of(const std::string& page) {
  const std::string tag = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(tag) + tag.size();
  return nlohmann::ordered_json::parse(page.substr(begin, page.find("</script", begin) - begin))
             .dump(1) +
         "\n";
}

std::string in_all_formats() {
  Report report = of_process(0);
  const std::string of_rank = in_lines(to_json_of_rank(of_process(1)));
  const std::string alone = to_text(report);
  merge_report(report, parse_report(to_json(of_process(1))));
  const std::pair<const char*, std::string> sections[] = {
      {"text of one process", alone}, {"text of two", to_text(report)},
      {"CSV", to_csv(report)},        {"JSON", in_lines(to_json(report))},
      {"JSON of rank 1", of_rank},    {"data of the page", in_lines(data_of(to_html(report)))}};
  std::string all;
  for (const auto& [name, text] : sections) all += std::string("== ") + name + " ==\n" + text;
  const std::string version = HIERBAR_VERSION;
  for (std::size_t at = 0; (at = all.find(version, at)) != std::string::npos;)
    all.replace(at, version.size(), "VERSION");
  return all;
}

TEST(Formats, OfOneRecordAreAsTheyWere) {
  std::ifstream file(HIERBAR_FORMATS);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(in_all_formats(), golden.str());
  if (HasFailure()) std::ofstream("formats.txt") << in_all_formats();  // to be looked at, and taken
}

}  // namespace
}  // namespace hierbar::report
