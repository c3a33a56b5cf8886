// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "report/team.hpp"
#include "trace/ompt_api.h"

namespace hierbar::report {

// One parallel region. The runtime's parallel_data points to it.
struct Region {
  RecordedTeam* team = nullptr;  // null if the region is not recorded
  ompt_data_t chained{};         // the parallel_data of the chained tool
};

inline Region* region_of(const ompt_data_t* parallel) {
  return parallel == nullptr ? nullptr : static_cast<Region*>(parallel->ptr);
}

// A pool of regions with their teams, by size. A region that begins borrows one. Most often this is
// the one that the region before it gave back. Thread-safe; visitors are called under the lock.
class TeamPool {
 public:
  TeamPool(std::uint64_t every, const TraceClock& clock) : every_(every), clock_(clock) {}

  Region* take(std::uint32_t size) {
    const std::lock_guard lock(mutex_);
    std::vector<Region*>& free = free_[size];
    if (free.empty()) {
      Owned& added = *all_.emplace_back(std::make_unique<Owned>(size, every_, clock_));
      added.region.team = &added.team;
      return &added.region;
    }
    Region* region = free.back();
    free.pop_back();
    region->chained = {};
    return region;
  }
  void give_back(Region* region) {
    const std::lock_guard lock(mutex_);
    free_[region->team->capacity()].push_back(region);
  }
  template <class Visitor>
  void for_each(Visitor&& visitor) {
    const std::lock_guard lock(mutex_);
    for (const auto& owned : all_) visitor(owned->team);
  }
  // Visits the teams that no region has borrowed.
  template <class Visitor>
  void for_each_idle(Visitor&& visitor) {
    const std::lock_guard lock(mutex_);
    for (const auto& [size, regions] : free_) {
      for (const Region* region : regions) visitor(*region->team);
    }
  }

 private:
  struct Owned {
    Owned(std::uint32_t size, std::uint64_t every, const TraceClock& clock)
        : team(size, every, clock) {}
    RecordedTeam team;
    Region region;
  };

  const std::uint64_t every_;
  const TraceClock& clock_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::vector<Region*>> free_;
  std::vector<std::unique_ptr<Owned>> all_;
};

}  // namespace hierbar::report
