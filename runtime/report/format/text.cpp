// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <iterator>
#include <ranges>

#include "base/text.hpp"
#include "report/report.hpp"

namespace hierbar::report {
namespace {

constexpr std::size_t kMostThreads = 16;  // lines per site; the JSON and CSV reports have all
constexpr std::size_t kMostGroups = 8;    // on a line; the JSON report has all

// A name without control characters. A report of somebody else may contain some that would control
// the terminal or break the line. Control characters are the bytes below a blank, delete, and 0x80
// to 0x9F in UTF-8.
std::string plain(const std::string& name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    const auto next = static_cast<unsigned char>(i + 1 < name.size() ? name[i + 1] : 0);
    const bool is_long_control = byte == 0xC2 && next >= 0x80 && next < 0xA0;
    text += byte < ' ' || byte == 0x7F || is_long_control ? '?' : name[i];
    if (is_long_control) ++i;
  }
  return text;
}

std::string describe_offset(const ClockOffset& offset) {
  if (!offset.problem.empty()) return "between packages not measured: " + plain(offset.problem);
  if (offset.num_packages == 0) return "between packages not measured";
  if (offset.num_packages == 1) return "none: all cpus of this process are in one package";
  return format_text("%.0f ns at most between the clocks of %zu packages, known to %.0f ns",
                     offset.offset_ns, offset.num_packages, offset.error_ns);
}

void print_header(std::string& text, const Report& report) {
  if (report.num_processes > 1) {
    text += format_text("hierbar: barriers of %u processes on %s", report.num_processes,
                        plain(report.process.host).c_str());
  } else {
    text += format_text("hierbar: barriers of process %ld on %s", report.process.pid,
                        plain(report.process.host).c_str());
    if (report.process.rank >= 0) text += format_text(", rank %ld", report.process.rank);
  }
  text += format_text("\n  runtime    %s; tool hierbar %s\n", plain(report.runtime).c_str(),
                      HIERBAR_VERSION);
  text += format_text(
      "  clock      %s, resolution %.1f ns, a stamp costs %.1f ns, two for each thread and "
      "barrier\n",
      plain(report.clock).c_str(), report.resolution_ns, report.stamp_ns);
  text += format_text("  offset     %s\n", describe_offset(report.offset).c_str());
  text += "  placement  " + plain(report.placement) + "\n";
  text += format_text("  levels     %s\n", plain(report.levels).c_str());
  if (report.every > 1)
    text += format_text("  sampled    one barrier in %llu\n",
                        static_cast<unsigned long long>(report.every));
  text += format_text(
      "  left out   %llu barriers after the tool's own work, %llu that not all threads took part "
      "in\n",
      static_cast<unsigned long long>(report.losses.left_out),
      static_cast<unsigned long long>(report.losses.incomplete));
  if (report.losses.backwards != 0) {
    text += format_text(
        "  warning    in %llu barriers somebody left before the last arrival: the cpus' clocks "
        "differ\n",
        static_cast<unsigned long long>(report.losses.backwards));
  }
  if (report.trace.kept != 0)
    text += format_text("  trace      %llu barriers and tasks kept, %llu earlier ones dropped\n",
                        static_cast<unsigned long long>(report.trace.kept),
                        static_cast<unsigned long long>(report.trace.dropped));
  text += format_text("  idle       %.3f s of threads between two regions, in no barrier\n",
                      static_cast<double>(report.idle_ns) / 1e9);
}

void print_histogram_heading(std::string& text) {
  text += format_text("    %-20s %12s", "ns", "count");
  for (const Statistic& statistic : kStatistics)
    text += format_text(" %*s", statistic.text_width, statistic.name);
  text += format_text(" %12s\n", "max");
}

void print_histogram(std::string& text, const char* name, const Histogram& times) {
  if (times.count() == 0) return;
  text += format_text("    %-20s %12llu", name, static_cast<unsigned long long>(times.count()));
  for (const Statistic& statistic : kStatistics)
    text += format_text(" %*.0f", statistic.text_width, statistic.of(times));
  text += format_text(" %12llu\n", static_cast<unsigned long long>(times.max_ns()));
}

template <class Columns, class Figures>
void print_times(std::string& text, const Columns& columns, const Figures& figures) {
  for (const auto& column : columns) print_histogram(text, column.name, figures.*column.times);
}

// "0-3 5"; "0.0 0.1 1.0" of threads of several ranks.
std::string list_threads(const SiteReport& site, const std::vector<std::uint32_t>& threads) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < threads.size(); first = last + 1) {
    last = first;
    while (site.threads_of_ranks.empty() && last + 1 < threads.size() &&
           threads[last + 1] == threads[last] + 1)
      ++last;
    text += (first == 0 ? "" : " ") + participant_name(site, threads[first]);
    if (last > first) text += "-" + std::to_string(threads[last]);
  }
  return text;
}

// Who waits for whom: a line for each level, with its first few groups.
void print_groups(std::string& text, const SiteReport& site) {
  const std::vector<LevelGroups>& levels = site.levels.groups;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::vector<LevelGroups::Group>& groups = levels[i].groups;
    if (groups.empty()) continue;
    std::string line = i == 0 ? "exchange" : "level " + std::to_string(i);
    line.resize(std::max<std::size_t>(line.size(), 20), ' ');
    for (std::size_t k = 0; k < groups.size() && k < kMostGroups; ++k)
      line += (k == 0 ? " " : ", ") + plain(groups[k].unit) +
              (groups[k].unit.empty() ? "{" : " {") + list_threads(site, groups[k].threads) + "}";
    if (groups.size() > kMostGroups)
      line += ", ... " + std::to_string(groups.size() - kMostGroups) + " more";
    text += "    " + line + "\n";
  }
}

void print_levels(std::string& text, const Report& report, const SiteReport& site) {
  for (const auto& [name, times] : list_levels(site.levels)) {
    if (!is_below_resolution(report, *times)) print_histogram(text, plain(name).c_str(), *times);
  }
  const std::string hidden = list_hidden(report, site);
  if (!hidden.empty())
    text += "    hidden, below twice the clock's resolution: " + plain(hidden) + "\n";
}

// The first column of times is a little wider.
int width_of(const TimesColumn<ThreadTimes>& column) {
  return &column == std::begin(kThreadTimes) ? 12 : 11;
}

// The means of a thread; each barrier of its site counts. The sums stand in reverse, so that the
// shares are at the end of the line.
void print_thread(std::string& text, const std::string& name, const ThreadTimes& times) {
  const auto episodes = static_cast<double>(times.imbalance.count());
  text += format_text("    %-20s", name.c_str());
  for (const auto& column : kThreadTimes)
    text += format_text(" %*.0f", width_of(column), (times.*column.times).mean_ns());
  for (const auto& column : std::views::reverse(kThreadSums)) {
    const double mean = static_cast<double>(times.*column.sum) / episodes;
    text += column.is_share ? format_text(" %*.1f%%", column.text_width - 1, 100 * mean)
                            : format_text(" %*.0f", column.text_width, mean);
  }
  text += "\n";
}

void print_threads(std::string& text, const SiteReport& site) {
  const char* const heading = is_of_ranks(site.kind)          ? "rank"
                              : site.threads_of_ranks.empty() ? "thread"
                                                              : "rank.thread";
  text += format_text("    %-20s", heading);
  for (const auto& column : kThreadTimes)
    text += format_text(" %*s", width_of(column), column.name);
  for (const auto& column : std::views::reverse(kThreadSums))
    text += format_text(" %*s", column.text_width, column.text);
  text += "\n";
  std::size_t num_more = 0;
  for (const auto& [number, thread] : site.threads) {
    if (number >= kMostThreads) {
      ++num_more;
      continue;
    }
    if (thread.imbalance.count() > 0) print_thread(text, participant_name(site, number), thread);
  }
  if (num_more > 0) text += format_text("    ... %zu more threads\n", num_more);
}

// "imbalance: ...; sync: ..."
template <class Columns>
std::string explain(const Columns& columns) {
  std::string text;
  for (const auto& column : columns)
    text += std::string(text.empty() ? "" : "; ") + column.name + ": " + column.meaning;
  return text;
}

std::string legend() {
  std::string text = "\n  " + explain(kThreadTimes) + ";\n  " + explain(kSiteTimes);
  for (const auto& column : kThreadSums) {
    if (!column.is_share) text += std::string("; ") + column.text + ": " + column.meaning;
  }
  return text +
         ". Per thread: means in ns.\n"
         "  gather, exchange, release: the barrier's time along its critical path, 1 nearest to "
         "the exchange; outside: the rest.\n"
         "  (L3) and the like: the smallest part of the machine that a level's threads share; "
         "below: who waits for whom there.\n";
}

}  // namespace

std::string to_text(const Report& report) {
  std::string text;
  print_header(text, report);
  if (report.sites.empty()) text += "  no barrier of more than one thread was seen\n";
  for (const SiteReport& site : report.sites) {
    text += format_text("\n  %s, %s, %u %s, %llu barriers\n", plain(site.where).c_str(),
                        plain(site.kind).c_str(), site.team_size,
                        is_of_ranks(site.kind) ? "ranks" : "threads",
                        static_cast<unsigned long long>(site.episodes));
    print_histogram_heading(text);
    print_times(text, kThreadTimes, site);
    print_times(text, kSiteTimes, site);
    print_levels(text, report, site);
    print_groups(text, site);
    print_threads(text, site);
  }
  if (!report.sites.empty()) text += legend();
  return text;
}

}  // namespace hierbar::report
