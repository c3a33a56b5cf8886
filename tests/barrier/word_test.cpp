// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "barrier/word.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace hierbar {
namespace {

constexpr Epoch epoch_number(std::uint64_t number) { return number << kEpochShift; }

constexpr std::uint64_t kLastEpoch = (std::uint64_t{1} << 56) - 1;
constexpr std::uint64_t kSignBoundary = std::uint64_t{1} << 55;

TEST(Word, KeepsEpochAndPayloadApart) {
  const WordValue word = make_word(epoch_number(5), 0x2A);
  EXPECT_EQ(word, 5U << 8 | 0x2AU << 2);
  EXPECT_EQ(epoch_of(word), epoch_number(5));
  EXPECT_EQ(payload_of(word), 0x2AU);
}

TEST(Word, HoldsTheLargestEpochAndPayload) {
  const WordValue word = make_word(epoch_number(kLastEpoch), kPayloadMask);
  EXPECT_EQ(word, ~WordValue{3}) << "the sleep bit and bit 1 stay clear";
  EXPECT_EQ(epoch_of(word), epoch_number(kLastEpoch));
  EXPECT_EQ(payload_of(word), kPayloadMask);
}

TEST(Word, DropsPayloadBitsThatDoNotFit) { EXPECT_EQ(make_word(0, kPayloadMask + 1), 0U); }

TEST(Word, IgnoresTheSleepBit) {
  const WordValue word = make_word(epoch_number(7), 3) | kSleepBit;
  EXPECT_EQ(epoch_of(word), epoch_number(7));
  EXPECT_EQ(payload_of(word), 3U);
  EXPECT_TRUE(reached(word, epoch_number(7)));
}

TEST(Epoch, WrapsAroundToZero) { EXPECT_EQ(next_epoch(epoch_number(kLastEpoch)), 0U); }

TEST(Epoch, IsReachedByItselfAndTheNextButNotByTheOneBefore) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, kSignBoundary - 1, kSignBoundary, kLastEpoch}) {
    const Epoch epoch = epoch_number(number);
    EXPECT_TRUE(reached(make_word(epoch, 0), epoch)) << number;
    EXPECT_TRUE(reached(make_word(next_epoch(epoch), 0), epoch)) << number;
    EXPECT_FALSE(reached(make_word(epoch, kPayloadMask), next_epoch(epoch))) << number;
  }
}

TEST(Epoch, IsComparedRightlyUpToHalfTheRangeAway) {
  const Epoch epoch = epoch_number(kLastEpoch - 3);
  EXPECT_TRUE(reached(epoch + epoch_number(kSignBoundary - 1), epoch));
  EXPECT_FALSE(reached(epoch - epoch_number(kSignBoundary), epoch));
}

}  // namespace
}  // namespace hierbar
