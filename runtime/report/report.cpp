// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/report.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "trace/ompt_api.h"

namespace hierbar::report {
namespace {

SiteReport& site_of(Report& report, const Site& site) {
  CodePlace code = place_of(site.address);
  const std::string where = to_string(code, site.address);
  const std::string kind = kind_name(site.kind);
  for (SiteReport& known : report.sites) {
    if (known.where == where && known.kind == kind && known.team_size == site.team_size)
      return known;
  }
  SiteReport& added = report.sites.emplace_back();
  added.where = where;
  added.code = std::move(code);
  added.kind = kind;
  added.team_size = site.team_size;
  return added;
}

void add_thread(SiteReport& site, std::uint32_t me, const ThreadTimes& times,
                const std::string& cpus) {
  Participant& thread = site.threads[me];
  if (thread.cpus.empty()) thread.cpus = cpus;
  add_times(thread, times);
  add_times(site, times);
  site.episodes += times.last_arrivals;  // each episode has one last arrival
}

}  // namespace

void add_times(ThreadTimes& into, const ThreadTimes& from) {
  for (const auto& column : kThreadTimes) (into.*column.times).merge(from.*column.times);
  for (const auto& column : kThreadSums) into.*column.sum += from.*column.sum;
}

void add_times(SiteTimes& into, const SiteTimes& from) {
  for (const auto& column : kSiteTimes) (into.*column.times).merge(from.*column.times);
}

void add_tables(Report& report, std::uint32_t me, const RecordedTeam::Tables& tables,
                const std::string& cpus) {
  const KeptDebugFiles files;
  tables.threads.for_each([&](const Site& site, const ThreadTimes& times) {
    add_thread(site_of(report, site), me, times, cpus);
  });
  tables.barriers.for_each([&](const Site& site, const BarrierTimes& times) {
    SiteReport& found = site_of(report, site);
    add_times(found, times);
    if (!times.threads_of_ranks.empty()) found.threads_of_ranks = times.threads_of_ranks;
    if (times.levels == nullptr) return;
    assert(times.levels->adds_up());
    found.levels.merge(*times.levels);
    if (times.shape != nullptr) found.levels.merge_groups(times.shape->levels);
  });
  report.losses.left_out += tables.losses.left_out;
  report.losses.incomplete += tables.losses.incomplete;
  report.losses.backwards += tables.losses.backwards;
}

void add_team(Report& report, const RecordedTeam& team) {
  const KeptDebugFiles files;
  for (std::uint32_t i = 0; i < team.capacity(); ++i) {
    if (const RecordedTeam::Tables* tables = team.tables(i))
      add_tables(report, i, *tables, team.cpus(i));
  }
}

void sort_sites(Report& report) {
  const auto cost = [](const SiteReport& site) {
    return site.imbalance.sum_ns() + site.sync.sum_ns();
  };
  std::stable_sort(report.sites.begin(), report.sites.end(),
                   [&](const SiteReport& a, const SiteReport& b) { return cost(a) > cost(b); });
}

const char* kind_name(std::uint32_t kind) {
  switch (kind) {
    case ompt_sync_region_barrier:
      return "barrier";
    case ompt_sync_region_barrier_implicit:
      return "implicit";
    case ompt_sync_region_barrier_explicit:
      return "explicit";
    case ompt_sync_region_barrier_implementation:
      return "implementation";
    case ompt_sync_region_barrier_implicit_workshare:
      return "workshare";
    case ompt_sync_region_barrier_implicit_parallel:
      return "parallel end";
    case ompt_sync_region_barrier_teams:
      return "teams end";
    case kMpiBarrier:
      return "MPI_Barrier";
    case kMpiBarrierOfNodes:
      return "MPI_Barrier, several nodes";
    case kTeamBarrier:
      return "team barrier";
    case kTeamBarrierOfNodes:
      return "team barrier, several nodes";
    default:
      return "unknown";
  }
}

bool is_of_ranks(const std::string& kind) {
  return kind == kind_name(kMpiBarrier) || kind == kind_name(kMpiBarrierOfNodes);
}

bool spans_processes(const std::string& kind) {
  return is_of_ranks(kind) || kind == kind_name(kTeamBarrier) ||
         kind == kind_name(kTeamBarrierOfNodes);
}

std::string participant_name(const SiteReport& site, std::uint32_t number) {
  std::uint32_t thread = number;
  for (std::size_t rank = 0; rank < site.threads_of_ranks.size(); ++rank) {
    if (thread < site.threads_of_ranks[rank])
      return std::to_string(rank) + "." + std::to_string(thread);
    thread -= site.threads_of_ranks[rank];
  }
  return std::to_string(number);
}

std::vector<std::pair<std::string, const Histogram*>> list_levels(const LevelTimes& levels) {
  std::vector<std::pair<std::string, const Histogram*>> list;
  if (levels.outside.count() == 0) return list;
  const auto named = [&](const std::string& step, std::size_t level) {
    const std::string name = level < levels.groups.size() ? levels.groups[level].name : "";
    return name.empty() ? step : step + " (" + name + ")";
  };
  for (std::size_t i = levels.gather.size(); i > 0; --i)
    list.emplace_back(named("gather " + std::to_string(i), i), &levels.gather[i - 1]);
  list.emplace_back(named("exchange", 0), &levels.exchange);
  for (std::size_t i = 1; i <= levels.release.size(); ++i)
    list.emplace_back(named("release " + std::to_string(i), i), &levels.release[i - 1]);
  list.emplace_back("outside", &levels.outside);
  return list;
}

bool is_below_resolution(const Report& report, const Histogram& times) {
  return times.count() != 0 && times.mean_ns() < 2 * report.resolution_ns;
}

std::string list_hidden(const Report& report, const SiteReport& site) {
  std::string names;
  for (const auto& [name, times] : list_levels(site.levels)) {
    if (is_below_resolution(report, *times)) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

std::string name_of(const Report& report) {
  if (report.num_processes > 1) return std::to_string(report.num_processes) + " processes";
  if (report.process.rank >= 0) return "rank " + std::to_string(report.process.rank);
  return "process " + std::to_string(report.process.pid);
}

std::vector<ProcessRow> rows_of(const Report& report, const SiteReport& site) {
  if (!site.rows.empty() && !spans_processes(site.kind)) return site.rows;
  ProcessRow row = {spans_processes(site.kind) ? "all ranks" : name_of(report),
                    report.process.host,
                    site.episodes,
                    {}};
  if (!site.threads.empty())
    row.last_arrivals.resize(std::size_t{site.threads.rbegin()->first} + 1);
  for (const auto& [number, thread] : site.threads)
    row.last_arrivals[number] = thread.last_arrivals;
  return {row};
}

}  // namespace hierbar::report
