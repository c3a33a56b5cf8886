// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace hierbar {

// One flag word. The layout is the same for libomp, MPI and the C API:
//
//     63                                     8 7            2  1        0
//    +----------------------------------------+--------------+----+-------+
//    |                 epoch                  |   payload    | 0  | sleep |
//    +----------------------------------------+--------------+----+-------+
//
// sleep    A waiter sets it when it is about to sleep on the word. The writer's next exchange
//          clears it and returns it. It is bit 0 because libomp keeps its own sleep state there.
// bit 1    Always 0; libomp reserves it.
// payload  A few bits. Every participant of the episode gets the OR of all of them.
// epoch    Counts episodes. It is never reset. Epochs are compared by their difference, so they may
//          wrap around.
using WordValue = std::uint64_t;

inline constexpr WordValue kSleepBit = 1;
inline constexpr int kPayloadShift = 2;
inline constexpr int kPayloadBits = 6;
inline constexpr int kEpochShift = kPayloadShift + kPayloadBits;
inline constexpr WordValue kEpochOne = WordValue{1} << kEpochShift;
inline constexpr WordValue kEpochMask = ~(kEpochOne - 1);
inline constexpr std::uint32_t kPayloadMask = (1U << kPayloadBits) - 1;

static_assert(kEpochShift == 8, "libomp, MPI and the C API share this layout");
static_assert((kSleepBit & kEpochMask) == 0 && (WordValue{kPayloadMask} << kPayloadShift & kEpochMask) == 0);

// An epoch as it is in a word: already shifted, and all other bits are zero.
using Epoch = WordValue;

constexpr Epoch epoch_of(WordValue word) noexcept { return word & kEpochMask; }
constexpr std::uint32_t payload_of(WordValue word) noexcept {
  return static_cast<std::uint32_t>(word >> kPayloadShift) & kPayloadMask;
}
constexpr WordValue make_word(Epoch epoch, std::uint32_t payload) noexcept {
  return epoch | (WordValue{payload & kPayloadMask} << kPayloadShift);
}
constexpr Epoch next_epoch(Epoch epoch) noexcept { return epoch + kEpochOne; }

// Whether `word` has reached `epoch`. Right across a wrap-around as long as the two are less than
// 2^55 episodes apart.
constexpr bool reached(WordValue word, Epoch epoch) noexcept { return static_cast<std::int64_t>(epoch_of(word) - epoch) >= 0; }

}  // namespace hierbar
