// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "report/process_rows.hpp"
#include "report/report.hpp"

namespace hierbar::report {
namespace {

using Json = nlohmann::ordered_json;

// With the buckets, so that reports can be merged: pairs of the bucket's shortest duration and its
// count. Empty buckets are left out.
Json to_value(const Histogram& times) {
  Json buckets = Json::array();
  for (std::size_t i = 0; i < Histogram::kNumBuckets; ++i) {
    if (times.in_bucket(i) != 0) buckets.push_back({Histogram::first_ns(i), times.in_bucket(i)});
  }
  return {{"count", times.count()},
          {"sum", times.sum_ns()},
          {"mean", times.mean_ns()},
          {"p50", times.percentile_ns(0.5)},
          {"p90", times.percentile_ns(0.9)},
          {"p99", times.percentile_ns(0.99)},
          {"p99.9", times.percentile_ns(0.999)},
          {"max", times.max_ns()},
          {"buckets", std::move(buckets)}};
}

// Level 0 is the exchange.
Json groups_of(const SiteReport& site) {
  Json list = Json::array();
  const std::vector<LevelGroups>& levels = site.levels.groups;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    for (const LevelGroups::Group& group : levels[i].groups) {
      Json& added = list.emplace_back(Json{{"level", i}, {"unit", group.unit}, {"threads", group.threads}});
      if (site.threads_of_ranks.empty()) continue;
      for (const std::uint32_t thread : group.threads) added["members"].push_back(participant_name(site, thread));
    }
  }
  return list;
}

Json to_value(const ProcessRow& row) {
  return {{"name", row.name}, {"host", row.host}, {"barriers", row.episodes}, {"last_arrivals", row.last_arrivals}};
}

// The address is that of the object's file, with which its debug information can be read elsewhere.
Json to_value(const CodePlace& code) {
  Json frames = Json::array();
  for (const CodeFrame& frame : code.frames)
    frames.push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
  return {{"frames", std::move(frames)},
          {"symbol", code.symbol},
          {"object", code.object.name},
          {"build_id", code.object.build_id},
          {"address", format_text("0x%zx", static_cast<std::size_t>(code.file_address))}};
}

enum class Whole : bool { kNo, kYes };

// The participants of lower numbers tell what all know. More than one does, since one may have lost
// its episodes.
constexpr std::uint32_t kNumTelling = 4;

bool tells_of_all(const SiteReport& site, Whole whole) {
  return whole == Whole::kYes || !spans_processes(site.kind) ||
         (!site.threads.empty() && site.threads.begin()->first < kNumTelling);
}

Json to_value(const Report& report, const SiteReport& site, Whole whole) {
  Json threads = Json::array();
  for (const auto& [number, thread] : site.threads) {
    if (thread.imbalance.count() == 0) continue;
    threads.push_back({{"thread", number},
                       {"cpus", thread.cpus},
                       {"last_arrivals", thread.last_arrivals},
                       {"tasks_ns", thread.tasks_ns},
                       {"imbalance_ns", to_value(thread.imbalance)},
                       {"sync_ns", to_value(thread.sync)}});
    if (!site.threads_of_ranks.empty()) threads.back()["member"] = participant_name(site, number);
  }
  Json rows = Json::array();
  // The reader makes the row of a barrier of all ranks from the participants.
  if (whole == Whole::kYes || !spans_processes(site.kind)) {
    for (const ProcessRow& row : rows_of(report, site)) rows.push_back(to_value(row));
  }
  Json levels = Json::array();
  for (const auto& [name, times] : list_levels(site.levels)) levels.push_back({{"level", name}, {"ns", to_value(*times)}});
  Json value = {{"site", site.where},
                {"code", to_value(site.code)},
                {"kind", site.kind},
                {"team_size", site.team_size},
                {"barriers", site.episodes},
                {"tasks_ns", site.tasks_ns},
                {"imbalance_ns", to_value(site.imbalance)},
                {"sync_ns", to_value(site.sync)},
                {"barrier_ns", to_value(site.span)},
                {"levels", std::move(levels)},
                {"hidden", list_hidden(report, site)},
                {"groups", tells_of_all(site, whole) ? groups_of(site) : Json::array()},
                {"threads", std::move(threads)},
                {"processes", std::move(rows)}};
  if (!site.threads_of_ranks.empty() && tells_of_all(site, whole)) value["threads_of_ranks"] = site.threads_of_ranks;
  return value;
}

std::string to_json(const Report& report, Whole whole) {
  Json sites = Json::array();
  for (const SiteReport& site : report.sites) sites.push_back(to_value(report, site, whole));
  const Json value = {
      {"hierbar", HIERBAR_VERSION},
      {"format", 1},
      {"processes", report.num_processes},
      {"process",
       {{"host", report.process.host}, {"pid", report.process.pid}, {"rank", report.process.rank}, {"job", report.process.job}}},
      {"runtime", report.runtime},
      {"clock",
       {{"name", report.clock},
        {"resolution_ns", report.resolution_ns},
        {"stamp_ns", report.stamp_ns},
        {"packages", report.offset.num_packages},
        {"offset_ns", report.offset.offset_ns},
        {"offset_error_ns", report.offset.error_ns},
        {"offset_problem", report.offset.problem}}},
      {"placement", report.placement},
      {"levels", report.levels},
      {"sample", report.every},
      {"idle_ns", report.idle_ns},
      {"lost",
       {{"left_out", report.losses.left_out}, {"incomplete", report.losses.incomplete}, {"backwards", report.losses.backwards}}},
      {"trace", {{"kept", report.trace.kept}, {"dropped", report.trace.dropped}}},
      {"sites", std::move(sites)}};
  // Symbols may have any encoding.
  return value.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_json(const Report& report) { return to_json(report, Whole::kYes); }
std::string to_json_of_rank(const Report& report) { return to_json(report, Whole::kNo); }

}  // namespace hierbar::report
