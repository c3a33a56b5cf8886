// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "network/schedule.hpp"

namespace hierbar::mpi {

// Cache of trial results, keyed by the set of leader processes. A later
// communicator with the same leaders starts with the verdict. Only a communicator's rank 0 looks
// here and tells the others, so they need not know the same. Thread-safe.
class Verdicts {
 public:
  // The leaders' processes, in order, as a number. Two lists of processes may have the same: then
  // one gets a verdict that does not suit it, but all of its leaders get the same one.
  static std::uint64_t key_of(const std::vector<std::uint64_t>& processes) {
    const std::string_view bytes(reinterpret_cast<const char*>(processes.data()), processes.size() * sizeof(std::uint64_t));
    return std::hash<std::string_view>{}(bytes);
  }

  // No kind: the MPI library's barrier.
  using Verdict = std::optional<network::Kind>;

  void remember(std::uint64_t key, Verdict verdict) {
    const std::lock_guard lock(mutex_);
    known_[key] = verdict;
  }
  // Empty: there was no trial.
  std::optional<Verdict> find(std::uint64_t key) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    return found == known_.end() ? std::nullopt : std::optional<Verdict>(found->second);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Verdict> known_;
};

}  // namespace hierbar::mpi
