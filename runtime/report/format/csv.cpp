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
std::string field(const std::string& name) {
  return name.find_first_of(",\"\r\n") == std::string::npos ? name : quoted(name);
}

// The fields of the sums on other lines.
std::string no_sums() { return std::string(std::size(kThreadSums), ','); }

// `rest`: the fields of the sums.
void add_row(std::string& text, const std::string& key, const std::string& thread,
             const std::string& what, const Histogram& times, const std::string& rest) {
  if (times.count() == 0) return;
  text += key + "," + thread + "," + field(what) + "," + std::to_string(times.count());
  for (const Statistic& statistic : kStatistics) text += format_text(",%.1f", statistic.of(times));
  text += "," + std::to_string(times.max_ns()) + rest + "\n";
}

std::string heading() {
  std::string text = "host,pid,rank,site,kind,team_size,thread,what,count";
  for (const Statistic& statistic : kStatistics) text += std::string(",") + statistic.name + "_ns";
  text += ",max_ns";
  for (const auto& column : kThreadSums) text += std::string(",") + column.csv;
  return text + "\n";
}

// The fields of the sums. `num_barriers` is 0 for all threads together, which have no share.
std::string sums(const ThreadTimes& times, std::uint64_t num_barriers) {
  std::string text;
  for (const auto& column : kThreadSums) {
    text += ",";
    if (!column.is_share)
      text += std::to_string(times.*column.sum);
    else if (num_barriers > 0)
      text += std::to_string(static_cast<double>(times.*column.sum) /
                             static_cast<double>(num_barriers));
  }
  return text;
}

// The sums are on the line of the first of these columns.
template <class Columns, class Figures>
void add_times(std::string& text, const std::string& key, const std::string& thread,
               const Columns& columns, const Figures& figures, const std::string& sums) {
  for (const auto& column : columns)
    add_row(text, key, thread, column.name, figures.*column.times,
            &column == std::begin(columns) ? sums : no_sums());
}

}  // namespace

// A line for each histogram. The thread is its number, or "all". Fields that a line does not have
// are empty.
std::string to_csv(const Report& report) {
  std::string text = heading();
  const std::string process = quoted(report.process.host) + "," +
                              std::to_string(report.process.pid) + "," +
                              std::to_string(report.process.rank) + ",";
  for (const SiteReport& site : report.sites) {
    const std::string key = process + quoted(site.where) + "," + quoted(site.kind) + "," +
                            std::to_string(site.team_size);
    add_times(text, key, "all", kThreadTimes, site, sums(site, 0));
    add_times(text, key, "all", kSiteTimes, site, no_sums());
    for (const auto& [name, times] : list_levels(site.levels)) {
      if (!is_below_resolution(report, *times)) add_row(text, key, "all", name, *times, no_sums());
    }
    for (const auto& [number, thread] : site.threads)
      add_times(text, key, std::to_string(number), kThreadTimes, thread,
                sums(thread, thread.imbalance.count()));
  }
  return text;
}

}  // namespace hierbar::report
