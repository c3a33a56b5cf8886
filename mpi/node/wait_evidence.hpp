// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/clock.hpp"

// What a rank learns from its own waits: whether yields are of use, and whether peers use its MPI
// library.
namespace hierbar::mpi {

// Whether the yields of a rank's last waits were of any use. Where the scheduler picks the rank
// again after each yield, its waits should sleep at once; each of them has many yields otherwise.
// After some waits that slept although they had yielded, the next ones do not yield. Then one tries
// again, and if it sleeps as well, the next ones do not yield either
// (docs/design/waiting.md#d0150).
//
// All zero is a valid start. One rank uses an object.
class YieldHistory {
 public:
  // Waits that slept in spite of their yields, one after the other, before waits stop yielding.
  static constexpr std::uint32_t kPatience = 4;
  // Waits that then do not yield.
  static constexpr std::uint32_t kNumWithoutYields = 16;

  // How often the wait that begins now yields before it sleeps: `most` times, or not at all.
  int begin_wait(int most) noexcept {
    if (num_without_yields_ == 0) return most;
    --num_without_yields_;
    return 0;
  }

  // A wait that yielded has ended. Writes only what changes: all ranks read the line of participant
  // 0's (HostLine).
  void end_wait(bool slept) noexcept {
    if (!slept) {
      if (num_in_vain_ != 0) num_in_vain_ = 0;
    } else if (++num_in_vain_ >= kPatience) {
      num_in_vain_ = kPatience - 1;
      num_without_yields_ = kNumWithoutYields;
    }
  }

 private:
  std::uint32_t num_in_vain_;
  std::uint32_t num_without_yields_;
};

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
