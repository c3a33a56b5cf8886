// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "ompt-tools/team.hpp"

namespace hierbar::ompt {

// The teams by size. A region borrows one; most often it is the one that the region before it gave back.
class TeamPool {
 public:
  TeamPool(std::uint64_t every, const TraceClock& clock) : every_(every), clock_(clock) {}

  Team* take(std::uint32_t size) {
    const std::lock_guard lock(mutex_);
    std::vector<Team*>& free = free_[size];
    if (free.empty()) return all_.emplace_back(std::make_unique<Team>(size, every_, clock_)).get();
    Team* team = free.back();
    free.pop_back();
    return team;
  }
  void give_back(Team* team) {
    const std::lock_guard lock(mutex_);
    free_[team->capacity()].push_back(team);
  }
  template <class Visitor>
  void for_each(Visitor&& visitor) {
    const std::lock_guard lock(mutex_);
    for (const auto& team : all_) visitor(*team);
  }

 private:
  const std::uint64_t every_;
  const TraceClock& clock_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::vector<Team*>> free_;
  std::vector<std::unique_ptr<Team>> all_;
};

}  // namespace hierbar::ompt
