// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "mpi/node/segment.hpp"

namespace hierbar::mpi {

// A segment that this process has joined, and the number by which the segment knows the process.
struct Membership {
  std::shared_ptr<NodeSegment> segment;
  std::uint32_t index = 0;
};

// The segments that this process may use for new communicators: the last few that it has joined.
// Older ones exist as long as a communicator uses them. Thread-safe.
class Memberships {
 public:
  static constexpr std::size_t kKept = 4;

  std::vector<Membership> newest_first() const {
    const std::lock_guard lock(mutex_);
    return {kept_.begin(), kept_.end()};
  }

  void add(Membership membership) {
    const std::lock_guard lock(mutex_);
    kept_.push_front(std::move(membership));
    if (kept_.size() > kKept) kept_.pop_back();
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    kept_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Membership> kept_;
};

}  // namespace hierbar::mpi
