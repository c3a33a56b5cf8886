// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/merge.hpp"

#include <algorithm>

#include "report/report.hpp"

namespace hierbar::report {
namespace {

// In another process, the thread with this number runs on other cpus. So their cpus are dropped. In
// another communicator, the rank with this number may run on other cpus, too. But each rank reports
// only its own cpus, so equal ones are kept.
bool has_same_cpus(const SiteReport& into, const SiteReport& from) {
  return std::equal(into.threads.begin(), into.threads.end(), from.threads.begin(),
                    from.threads.end(), [](const auto& a, const auto& b) {
                      return a.first == b.first && a.second.cpus == b.second.cpus;
                    });
}

void merge_cpus(std::string& into, const std::string& from) {
  if (into.empty())
    into = from;
  else if (!from.empty() && into != from)
    into = kVariousCpus;
}

void merge_site(SiteReport& into, const SiteReport& from) {
  into.episodes += from.episodes;
  add_times(static_cast<ThreadTimes&>(into), from);
  add_times(static_cast<SiteTimes&>(into), from);
  into.levels.merge(from.levels);
  const bool drops_cpus = !spans_processes(into.kind) && !has_same_cpus(into, from);
  for (const auto& [number, thread] : from.threads) {
    Participant& known = into.threads[number];
    add_times(known, thread);
    merge_cpus(known.cpus, thread.cpus);
  }
  if (drops_cpus) {
    for (auto& [number, thread] : into.threads) thread.cpus.clear();
  }
  if (into.threads_of_ranks.empty()) into.threads_of_ranks = from.threads_of_ranks;
}

}  // namespace

// A barrier of all ranks has one row, which rows_of() makes of its participants.
Merger::Merger(Report& into) : into_(into) {
  for (SiteReport& site : into_.sites) {
    if (!spans_processes(site.kind)) site.rows = rows_of(into_, site);
    index_.emplace(Key(site.where, site.kind, site.team_size), index_.size());
  }
}

// What the processes do not share, such as their clocks, is taken from the first one. For bounds
// the worst counts.
void Merger::add(const Report& from) {
  into_.num_processes += from.num_processes;
  if (into_.process.host != from.process.host) into_.process.host = "several hosts";
  into_.resolution_ns = std::max(into_.resolution_ns, from.resolution_ns);
  into_.stamp_ns = std::max(into_.stamp_ns, from.stamp_ns);
  if (!from.offset.problem.empty() ||
      from.offset.offset_ns + from.offset.error_ns > into_.offset.offset_ns + into_.offset.error_ns)
    into_.offset = from.offset;
  into_.idle_ns += from.idle_ns;
  into_.losses.left_out += from.losses.left_out;
  into_.losses.incomplete += from.losses.incomplete;
  into_.losses.backwards += from.losses.backwards;
  into_.trace.kept += from.trace.kept;
  into_.trace.dropped += from.trace.dropped;
  for (const SiteReport& site : from.sites) add_site(from, site);
}

void Merger::add_site(const Report& from, const SiteReport& site) {
  const auto [found, is_new] =
      index_.emplace(Key(site.where, site.kind, site.team_size), into_.sites.size());
  if (is_new)
    into_.sites.push_back(site);
  else
    merge_site(into_.sites[found->second], site);
  if (spans_processes(site.kind)) return;
  const std::vector<ProcessRow> rows = rows_of(from, site);
  std::vector<ProcessRow>& all = into_.sites[found->second].rows;
  if (is_new) all.clear();
  all.insert(all.end(), rows.begin(), rows.end());
}

void merge_report(Report& into, const Report& from) {
  Merger(into).add(from);
  sort_sites(into);
}

}  // namespace hierbar::report
