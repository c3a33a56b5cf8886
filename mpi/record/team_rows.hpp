// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "report/report.hpp"
#include "report/timeline.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::mpi {

// The time lines of the threads of this process's teams: a row for each thread of a team. Teams
// that exist at the same time have rows of their own, because their threads may be in barriers at
// once. A team that is made when another one has ended goes on in the rows of that one.
//
// Thread safety: a row belongs to its team's thread, everything else is for any thread.
class TeamRows {
 public:
  TeamRows(std::size_t ring_size, const TraceClock& clock) : ring_size_(ring_size), clock_(clock) {}

  // By the thread's number in its team.
  std::vector<report::RawRing*> take(std::uint32_t num_threads);
  // No thread uses them any more.
  void give_back(const std::vector<report::RawRing*>& rows);

  report::TraceCounts counts() const;
  // Adds a part of the process for each set of rows. Requires that no thread adds any more.
  void add_to(report::Timeline& timeline, const report::Process& process) const;

 private:
  struct Set {
    Set(std::size_t ring_size, const TraceClock& clock) : raw(ring_size, clock) {}
    report::RawTrace raw;
    std::vector<report::RawRing*> rows;
    bool is_taken = false;
  };

  const std::size_t ring_size_;
  const TraceClock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Set>> sets_;
};

}  // namespace hierbar::mpi
