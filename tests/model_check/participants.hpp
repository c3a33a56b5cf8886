// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <utility>

#include "base/futex.hpp"
#include "case.hpp"
#include "verifier.hpp"

namespace hierbar::model {

// As many as a participant can need for its sleeps.
inline constexpr std::uint32_t kNumCoins = 4 * kNumEpisodes * kNaps;
inline Coin coins[kNumParticipants][kNumCoins];

constexpr bool flips_coins(std::uint32_t participant) noexcept {
  return kSpurious && (kSleepers >> participant & 1) != 0;
}

template <class Participant, std::uint32_t kMe>
void* run_participant(void*) {
  if constexpr (flips_coins(kMe)) next_coin = coins[kMe];
  Participant::template run<kMe>();
  return nullptr;
}

template <class Participant, std::uint32_t... kIndices>
void run_participants(std::integer_sequence<std::uint32_t, kIndices...>) {
  Thread threads[kNumParticipants];
  (threads[kIndices].start(run_participant<Participant, kIndices>), ...);
  for (std::uint32_t p = 0; p < kNumParticipants; ++p) {
    for (std::uint32_t i = 0; flips_coins(p) && i < kNumCoins; ++i)
      coins[p][i].store(1, std::memory_order_relaxed);
  }
  (threads[kIndices].join(), ...);
}

// Calls Participant::run<p>() for every participant, each in its own thread. It is a template, so
// that the compiler knows the participant.
template <class Participant>
void run_participants() {
  run_participants<Participant>(std::make_integer_sequence<std::uint32_t, kNumParticipants>());
}

// What a barrier must protect: each participant writes a plain cell, crosses, and reads all cells.
// The checker reports a data race if the barrier does not order the two. Even and odd episodes have
// their own cells. So a crossing that releases somebody too early is found as well: its next write
// races with the reads of the episode before the last.
class Oracle {
 public:
  static void write(std::uint32_t me, std::uint32_t episode) noexcept {
    cells_[episode % 2][me] = episode;
  }

  static void check(std::uint32_t episode) noexcept {
    for (std::uint32_t p = 0; p < kNumParticipants; ++p)
      MODEL_EXPECT(cells_[episode % 2][p] == episode);
  }
  static void check_one(std::uint32_t participant, std::uint32_t episode) noexcept {
    MODEL_EXPECT(cells_[episode % 2][participant] == episode);
  }

 private:
  static inline std::uint32_t cells_[2][kNumParticipants];
};

}  // namespace hierbar::model
