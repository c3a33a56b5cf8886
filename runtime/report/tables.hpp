// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "report/levels.hpp"
#include "symbol/code_object.hpp"
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
    return static_cast<std::size_t>((bits ^ std::uint64_t{site.kind} << 56 ^ std::uint64_t{site.team_size} << 40) *
                                    0x9E3779B97F4A7C15U);
  }
};

// The waits of one thread of a team at one site.
struct ThreadTimes {
  Histogram imbalance;              // from its arrival to the last arrival, without tasks
  Histogram sync;                   // from the last arrival to its own release
  std::uint64_t tasks_ns = 0;       // in tasks that it ran while it waited
  std::uint64_t last_arrivals = 0;  // how often it arrived last
};

// The barriers of one site: from the last arrival to the last release.
struct BarrierTimes {
  Histogram span;
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
