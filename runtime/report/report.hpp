// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/settings.hpp"
#include "report/tables.hpp"
#include "report/team.hpp"
#include "symbol/code_place.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::report {

// The content of a report, as plain data.

// In a merged report: who arrived last, in one of the processes.
struct ProcessRow {
  std::string name;  // "rank 3"
  std::string host;
  std::uint64_t episodes = 0;
  std::vector<std::uint64_t> last_arrivals;  // by thread
};

// A thread of a team, or a rank.
struct Participant : ThreadTimes {
  std::string cpus;  // on which it may run, "0-3". Empty if unknown, or kVariousCpus.
};

// A row of the report. Its times are those of all threads together.
struct SiteReport : ThreadTimes, SiteTimes {
  std::string
      where;  // for people, and what makes sites of several reports one; see to_string(CodePlace)
  CodePlace code;
  std::string kind;
  std::uint32_t team_size = 0;
  std::uint64_t episodes = 0;
  LevelTimes levels;
  // By number in the team. Only those of which something is known: a rank's own report has one
  // entry for a barrier of all ranks, and not one for each of them.
  std::map<std::uint32_t, Participant> threads;
  // One for each process that was merged; see rows_of(). None where spans_processes().
  std::vector<ProcessRow> rows;
  // Of a barrier of all threads of all ranks: how many threads each rank has. Else empty.
  std::vector<std::uint32_t> threads_of_ranks;
};
// For a rank number that belongs to several processes, because several communicators share a site.
inline constexpr const char* kVariousCpus = "various";

// What the rings for pictures kept. All 0 if there are no rings.
struct TraceCounts {
  std::uint64_t kept = 0;
  std::uint64_t dropped = 0;  // overwritten by later events
};

struct Report {
  std::uint32_t num_processes = 1;
  Process process;      // the first one, if it is merged
  std::string runtime;  // the runtime's name for itself
  std::string clock;
  double resolution_ns = 0;
  double stamp_ns = 0;
  ClockOffset offset;
  std::uint64_t every = 1;
  std::string levels;  // whether levels are known, and why not
  std::string placement;
  std::uint64_t idle_ns = 0;
  Losses losses;
  TraceCounts trace;
  std::vector<SiteReport> sites;  // the most expensive first
};

// Adds the figures of a team. Requires that the team was flushed.
void add_team(Report& report, const RecordedTeam& team);

// Adds the figures that participant `me` of some team has recorded.
void add_tables(Report& report, std::uint32_t me, const RecordedTeam::Tables& tables,
                const std::string& cpus);

// Orders the sites by the time that all threads spent there.
void sort_sites(Report& report);

const char* kind_name(std::uint32_t kind);
// Whether the participants of a kind of barrier are MPI ranks.
bool is_of_ranks(const std::string& kind);
// Whether they belong to several processes: ranks, or the threads of all ranks. A number then means
// the same participant in the reports of all processes.
bool spans_processes(const std::string& kind);
// The participant's number; "rank.thread" in a barrier of all threads of all ranks.
std::string participant_name(const SiteReport& site, std::uint32_t number);

// The levels of a site with their names, "release 1 (L3)", in the order of the path through them.
// Empty if the levels are not known.
std::vector<std::pair<std::string, const Histogram*>> list_levels(const LevelTimes& levels);

// Whether the mean is below twice the clock's resolution. Such figures are noise, and such levels
// are not shown to people.
bool is_below_resolution(const Report& report, const Histogram& times);

// The levels that are not shown, "gather 1 (L3), release 1 (L3)".
std::string list_hidden(const Report& report, const SiteReport& site);

std::string to_text(const Report& report);
std::string to_json(const Report& report);
// The same for parse_report() and merging. What all ranks know alike is only in the reports of the
// first few, so the size for a rank does not grow with the number of ranks.
std::string to_json_of_rank(const Report& report);
std::string to_csv(const Report& report);

// "rank 3"; "process 4711" if the rank is not known; "4 processes" for a merged report.
std::string name_of(const Report& report);

// Who arrived last at a site of the report: the rows of a merged report, or the one row of a report
// of one process. Barriers of ranks have a single row with all ranks.
std::vector<ProcessRow> rows_of(const Report& report, const SiteReport& site);

}  // namespace hierbar::report
