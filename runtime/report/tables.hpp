// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

#include "report/levels.hpp"
#include "symbol/code_place.hpp"
#include "trace/histogram.hpp"

namespace hierbar::report {

// Kinds of barriers beside those of OMPT (ompt_sync_region_t): barriers of MPI ranks. Elsewhere in
// these files, ranks are called threads.
inline constexpr std::uint32_t kMpiBarrier = 1000;
// Between nodes; its "exchange" is the one of the nodes' leaders.
inline constexpr std::uint32_t kMpiBarrierOfNodes = 1001;
// Of all threads of all ranks (hierbar/mpi.h). Threads are numbered through, rank after rank.
inline constexpr std::uint32_t kTeamBarrier = 1002;
inline constexpr std::uint32_t kTeamBarrierOfNodes = 1003;

// What a row of a report stands for: a place in the program, a kind of barrier, and a number of
// threads.
struct Site {
  const void* address = nullptr;
  std::uint32_t kind = 0;
  std::uint32_t team_size = 0;
  bool operator==(const Site&) const = default;
};

struct SiteHash {
  std::size_t operator()(const Site& site) const noexcept {
    const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(site.address));
    return static_cast<std::size_t>(
        (bits ^ std::uint64_t{site.kind} << 56 ^ std::uint64_t{site.team_size} << 40) *
        0x9E3779B97F4A7C15U);
  }
};

// The columns of reports. A column is a member of one of the structs below and an entry of the list
// behind it. Text, CSV, JSON, pages, merging and reading walk the lists. Nothing else is to be
// changed, except where the figure is measured: account() in team.cpp for threads, add_wait() in
// mpi/record for ranks.

// A column of times: a histogram for each thread or each site.
template <class Figures>
struct TimesColumn {
  const char* name;  // in JSON it is followed by "_ns"
  Histogram Figures::* times;
  const char* meaning;  // for people
};

// A column of numbers of threads.
template <class Figures>
struct SumColumn {
  const char* json;
  const char* csv;
  const char* text;
  int text_width;
  std::uint64_t Figures::* sum;
  // A number of barriers is shown as their share in CSV and text. Its sum over all threads is the
  // number of barriers, which a site has anyway. Otherwise it is ns; text shows them per barrier.
  bool is_share;
  const char* meaning;  // of ns, for people
};

// The waits of one thread of a team at one site; in a report also their sum over all threads.
struct ThreadTimes {
  Histogram imbalance;              // from its arrival to the last arrival, without tasks
  Histogram sync;                   // from the last arrival to its own release
  std::uint64_t tasks_ns = 0;       // in tasks that it ran while it waited
  std::uint64_t last_arrivals = 0;  // how often it arrived last
};
inline constexpr TimesColumn<ThreadTimes> kThreadTimes[] = {
    {"imbalance", &ThreadTimes::imbalance, "a thread's arrival to the last one's, without tasks"},
    {"sync", &ThreadTimes::sync, "the last arrival to the thread's release"}};
inline constexpr SumColumn<ThreadTimes> kThreadSums[] = {
    {.json = "last_arrivals",
     .csv = "last_share",
     .text = "last arrival",
     .text_width = 12,
     .sum = &ThreadTimes::last_arrivals,
     .is_share = true,
     .meaning = ""},
    {.json = "tasks_ns",
     .csv = "tasks_ns",
     .text = "tasks",
     .text_width = 10,
     .sum = &ThreadTimes::tasks_ns,
     .is_share = false,
     .meaning = "time in tasks while waiting"}};
static_assert(sizeof(ThreadTimes) == std::size(kThreadTimes) * sizeof(Histogram) +
                                         std::size(kThreadSums) * sizeof(std::uint64_t),
              "a member without a column");

// The barriers of one site.
struct SiteTimes {
  Histogram span;  // from the last arrival to the last release
};
inline constexpr TimesColumn<SiteTimes> kSiteTimes[] = {
    {"barrier", &SiteTimes::span, "the last arrival to the last release"}};
static_assert(sizeof(SiteTimes) == std::size(kSiteTimes) * sizeof(Histogram),
              "a member without a column");

// Adds all columns of `from`.
void add_times(ThreadTimes& into, const ThreadTimes& from);
void add_times(SiteTimes& into, const SiteTimes& from);

// What is shown of a histogram between its count and its maximum.
struct Statistic {
  const char* name;  // in CSV it is followed by "_ns"
  int text_width;
  double (*of)(const Histogram& times);
};
inline constexpr Statistic kStatistics[] = {
    {"mean", 11, [](const Histogram& times) { return times.mean_ns(); }},
    {"p50", 10, [](const Histogram& times) { return times.percentile_ns(0.5); }},
    {"p90", 10, [](const Histogram& times) { return times.percentile_ns(0.9); }},
    {"p99", 10, [](const Histogram& times) { return times.percentile_ns(0.99); }},
    {"p99.9", 10, [](const Histogram& times) { return times.percentile_ns(0.999); }}};

// What is recorded of the barriers of one site.
struct BarrierTimes : SiteTimes {
  std::unique_ptr<LevelTimes> levels;  // null until the levels of one barrier are known
  const Shape* shape = nullptr;        // of the last barrier with known levels
  // kTeamBarrier and kTeamBarrierOfNodes: how many threads each rank has. Else empty.
  std::vector<std::uint32_t> threads_of_ranks;
};

// A table of Times by site. A loop meets the same few sites again and again, and most often the
// same one as before. So the last site and a small cache are tried before the hash table. Allocates
// only for a new site.
template <class Times>
class SiteTable {
 public:
  Times& at(const Site& site) {
    if (!latest_.is_of(site)) latest_ = find(site);
    return *latest_.times;
  }
  template <class Visitor>
  void for_each(Visitor&& visitor) const {
    for (const auto& [site, times] : all_) visitor(site, *times);
  }

 private:
  struct Entry {
    Site site;
    Times* times = nullptr;
    bool is_of(const Site& other) const noexcept { return times != nullptr && site == other; }
  };

  const Entry& find(const Site& site) {
    Entry& entry = cache_[SiteHash{}(site) >> 59];
    if (entry.is_of(site)) return entry;
    std::unique_ptr<Times>& times = all_[site];
    if (times == nullptr) {
      times = std::make_unique<Times>();
      remember_code(site.address);
    }
    entry = {site, times.get()};
    return entry;
  }

  Entry latest_;
  Entry cache_[32];
  std::unordered_map<Site, std::unique_ptr<Times>, SiteHash> all_;
};

}  // namespace hierbar::report
