// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "case.hpp"
#include "verifier.hpp"

namespace hierbar::model {

// What a barrier must protect: each participant writes a plain cell, crosses, and reads all cells.
// The checker reports a data race if the barrier does not order the two. Even and odd episodes have
// their own cells. So a crossing that releases somebody too early is found as well: its next write
// races with the reads of the episode before the last.
class Oracle {
 public:
  static void write(std::uint32_t me, std::uint32_t episode) noexcept { cells_[episode % 2][me] = episode; }

  static void check(std::uint32_t episode) noexcept {
    for (std::uint32_t p = 0; p < kNumParticipants; ++p) MODEL_EXPECT(cells_[episode % 2][p] == episode);
  }
  static void check_one(std::uint32_t participant, std::uint32_t episode) noexcept {
    MODEL_EXPECT(cells_[episode % 2][participant] == episode);
  }

 private:
  static inline std::uint32_t cells_[2][kNumParticipants];
};

}  // namespace hierbar::model
