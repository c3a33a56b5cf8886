// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/clock.hpp"

namespace hierbar::mpi {

// Finds out whether peers use this rank's MPI library while it waits, as a remote access does that
// needs the target's progress. A call into the library that has something to do takes longer than
// the quickest one of this wait. So does one that is interrupted, but hardly two in a row.
//
// A call in which the thread loses its cpu tells nothing, and neither does the one after it, whose
// caches are cold. Where ranks outnumber the cpus that is most of them: Open MPI's progress yields.
class PeerActivity {
 public:
  // Makes a call and times another one. Returns whether this one and the last that was timed had
  // something to do.
  template <class Poke>
  bool found_by(Poke&& poke) noexcept {
    const long switches = num_switches();
    poke();
    const std::int64_t start_ns = monotonic_ns();
    poke();
    const std::int64_t took_ns = monotonic_ns() - start_ns;
    quickest_ns_ = std::min(quickest_ns_, took_ns);
    const bool was_long = last_was_long_;
    last_was_long_ = took_ns > kTimesTheQuickest * quickest_ns_ && num_switches() == switches;
    return was_long && last_was_long_;
  }

 private:
  static long num_switches() noexcept {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
  }

  static constexpr std::int64_t kTimesTheQuickest = 3;
  std::int64_t quickest_ns_ = std::numeric_limits<std::int64_t>::max();
  bool last_was_long_ = false;
};

}  // namespace hierbar::mpi
