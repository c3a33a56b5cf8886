// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/record/team_rows.hpp"

#include <algorithm>
#include <string>

namespace hierbar::mpi {

std::vector<report::RawRing*> TeamRows::take(std::uint32_t num_threads) {
  const std::lock_guard lock(mutex_);
  auto free =
      std::find_if(sets_.begin(), sets_.end(), [](const auto& set) { return !set->is_taken; });
  if (free == sets_.end()) free = sets_.insert(free, std::make_unique<Set>(ring_size_, clock_));
  Set& set = **free;
  set.is_taken = true;
  while (set.rows.size() < num_threads)
    set.rows.push_back(set.raw.add_thread(static_cast<std::uint32_t>(set.rows.size())));
  return {set.rows.begin(), set.rows.begin() + num_threads};
}

void TeamRows::give_back(const std::vector<report::RawRing*>& rows) {
  const std::lock_guard lock(mutex_);
  for (const auto& set : sets_) {
    if (set->rows.front() == rows.front()) set->is_taken = false;
  }
}

report::TraceCounts TeamRows::counts() const {
  const std::lock_guard lock(mutex_);
  report::TraceCounts counts;
  for (const auto& set : sets_) {
    counts.kept += set->raw.kept();
    counts.dropped += set->raw.dropped();
  }
  return counts;
}

void TeamRows::add_to(report::Timeline& timeline, const report::Process& process) const {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    report::Timeline of_set = sets_[i]->raw.timeline(process);
    of_set.processes[0].part = "team barriers" + (i == 0 ? "" : " " + std::to_string(i + 1));
    report::merge_timeline(timeline, of_set);
  }
}

}  // namespace hierbar::mpi
