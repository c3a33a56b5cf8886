// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace hierbar::mpi {

// Whether the yields of a rank's last waits were of any use. Where the scheduler picks the rank
// again after each yield, its waits should sleep at once; each of them has many yields otherwise.
// After some waits that slept although they had yielded, the next ones do not yield. Then one tries
// again, and if it sleeps as well, the next ones do not yield either (docs/design/waiting.md#d0150).
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

}  // namespace hierbar::mpi
