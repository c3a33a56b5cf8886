// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ompt-tools/settings.hpp"
#include "ompt-tools/tables.hpp"
#include "ompt-tools/team.hpp"
#include "trace/clock_offset.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::ompt {

// What a report says, as plain data.

// Who arrived last in one of the processes that a report is the sum of.
struct ProcessRow {
  std::string name;  // "rank 3"
  std::string host;
  std::uint64_t episodes = 0;
  std::vector<std::uint64_t> last_arrivals;  // by thread
};

struct SiteReport {
  std::string where;  // symbol and offset, or file and offset
  std::string kind;
  std::uint32_t team_size = 0;
  std::uint64_t episodes = 0;
  Histogram imbalance;  // over all threads
  Histogram sync;
  Histogram span;
  LevelTimes levels;
  std::uint64_t tasks_ns = 0;
  std::vector<ThreadTimes> threads;  // by number in the team
  std::vector<ProcessRow> rows;      // for each process that was here, kept by merging; see rows_of()
  std::vector<std::string> cpus;     // where each of them may run, "0-3"; empty: not known; or kVariousCpus
};
// Of a rank's number that several processes have, in communicators that share a site.
inline constexpr const char* kVariousCpus = "various";

// What the rings for pictures kept; all 0 without one.
struct TraceCounts {
  std::uint64_t kept = 0;
  std::uint64_t dropped = 0;  // overwritten by later events
};

struct Report {
  std::uint32_t num_processes = 1;
  Process process;      // the first of them
  std::string runtime;  // as it calls itself
  std::string clock;
  double resolution_ns = 0;
  double stamp_ns = 0;
  ClockOffset offset;
  std::uint64_t every = 1;
  std::string levels;  // whether they are known
  std::string placement;
  std::uint64_t idle_ns = 0;
  Losses losses;
  TraceCounts trace;
  std::vector<SiteReport> sites;  // the most expensive first
};

// Adds what a team has to the report's sites. The team must have been flushed.
void add_team(Report& report, const Team& team);

// Adds what participant `me` of teams has recorded.
void add_tables(Report& report, std::uint32_t me, const Team::Tables& tables, const std::string& cpus);

// Orders the sites by the time that all threads spent there.
void sort_sites(Report& report);

const char* kind_name(std::uint32_t kind);
// Whether the participants of a kind of barrier are MPI ranks.
bool is_of_ranks(const std::string& kind);

// The levels of a site in the order of the way through them, with their names, "release 1 (L3)"; none when none are known.
std::vector<std::pair<std::string, const Histogram*>> list_levels(const LevelTimes& levels);

// Whether these figures are below twice the clock's resolution on average, so that they are noise; such levels are not shown to
// people.
bool is_below_resolution(const Report& report, const Histogram& times);

// The levels that are not shown, "gather 1 (L3), release 1 (L3)".
std::string list_hidden(const Report& report, const SiteReport& site);

// "function+0x12 (file)" where the loader knows a symbol, else "file+0x1234", which addr2line understands.
std::string symbolise(const void* address);

std::string to_text(const Report& report);
std::string to_json(const Report& report);
std::string to_csv(const Report& report);

}  // namespace hierbar::ompt
