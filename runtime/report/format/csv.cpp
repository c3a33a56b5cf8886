// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/text.hpp"
#include "report/report.hpp"

namespace hierbar::report {
namespace {

// A field in quotes, with its quotes doubled.
std::string quoted(const std::string& field) {
  std::string text = "\"";
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

// Names of levels are quoted only if they need it.
std::string field(const std::string& name) { return name.find_first_of(",\"\r\n") == std::string::npos ? name : quoted(name); }

void add_row(std::string& text, const std::string& key, const char* thread, const char* what, const Histogram& times) {
  if (times.count() == 0) return;
  text += key + "," + thread + "," + field(what) +
          format_text(",%llu,%.1f,%.1f,%.1f,%.1f,%.1f,%llu,", static_cast<unsigned long long>(times.count()), times.mean_ns(),
                      times.percentile_ns(0.5), times.percentile_ns(0.9), times.percentile_ns(0.99), times.percentile_ns(0.999),
                      static_cast<unsigned long long>(times.max_ns()));
}

}  // namespace

// A line for each histogram. The thread is its number, or "all". Fields that a line does not have
// are empty.
std::string to_csv(const Report& report) {
  std::string text =
      "host,pid,rank,site,kind,team_size,thread,what,count,mean_ns,p50_ns,p90_ns,p99_ns,p99.9_ns,max_ns,last_share,tasks_ns\n";
  const std::string process =
      quoted(report.process.host) + "," + std::to_string(report.process.pid) + "," + std::to_string(report.process.rank) + ",";
  for (const SiteReport& site : report.sites) {
    const std::string key = process + quoted(site.where) + "," + quoted(site.kind) + "," + std::to_string(site.team_size);
    const auto add = [&](const char* thread, const char* what, const Histogram& times, const std::string& rest) {
      const std::size_t before = text.size();
      add_row(text, key, thread, what, times);
      if (text.size() != before) text += rest + "\n";
    };
    add("all", "imbalance", site.imbalance, "," + std::to_string(site.tasks_ns));
    add("all", "sync", site.sync, ",");
    add("all", "barrier", site.span, ",");
    for (const auto& [name, times] : list_levels(site.levels)) {
      if (!is_below_resolution(report, *times)) add("all", name.c_str(), *times, ",");
    }
    for (const auto& [position, thread] : site.threads) {
      const double share = thread.imbalance.count() == 0
                               ? 0
                               : static_cast<double>(thread.last_arrivals) / static_cast<double>(thread.imbalance.count());
      const std::string number = std::to_string(position);
      add(number.c_str(), "imbalance", thread.imbalance, std::to_string(share) + "," + std::to_string(thread.tasks_ns));
      add(number.c_str(), "sync", thread.sync, ",");
    }
  }
  return text;
}

}  // namespace hierbar::report
