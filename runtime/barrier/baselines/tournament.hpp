// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/baselines/blocks.hpp"

namespace hierbar {

// How the champion of a tournament releases the others.
enum class TournamentRelease : std::uint8_t {
  kTree,  // `tournament-tree`: every winner releases its losers, from the last round to the first
  kFlag,  // `tournament-flag`: one global flag that all read
};

// The tournament: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization",
// Int. J. Parallel Programming 17(1), 1988. The two releases are those of Mellor-Crummey and Scott,
// 1991, section 3.4.
//
//   1. Round k is played by those who have not lost yet. A participant whose number is an odd
//      multiple of 2^k loses to the one 2^k below it: it writes the winner's flag of that round and
//      is out. Who wins is known beforehand, so no read-modify-write has to decide.
//   2. Participant 0 is the champion and releases the others.
//
// The original clears the flags or reverses their sense. Here they hold epochs.
//
// Messages: 2(n - 1). Depth: ceil(log2 n) line transfers up. Down there are as many, or one line
// that goes to everybody in turn.
template <class Mem, TournamentRelease kRelease>
class TournamentBarrier {
 public:
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept { return Blocks<Mem>::size_bytes(plan, num_flags(plan)); }

  TournamentBarrier(const hierbar_plan& plan, void* memory) noexcept : blocks_(plan, memory, num_flags(plan)) {}

  [[nodiscard]] WaitResult cross(Mem& mem, std::uint32_t me) const noexcept {
    const Epoch epoch = begin_episode(mem, blocks_.own(me));
    // 1. `round` ends as the round that `me` loses. The champion's is one more than there are.
    std::uint32_t round = 0;
    for (; std::uint64_t{1} << round < blocks_.num_participants() && (me >> round & 1) == 0; ++round) {
      const std::uint32_t loser = me + (1U << round);
      if (loser >= blocks_.num_participants()) continue;  // wins without an opponent
      auto& beaten = blocks_.flag(me, kFirstRound + round).raised[0];
      if (blocks_.await_signal(mem, me, beaten, epoch, loser) == WaitResult::kAborted) return WaitResult::kAborted;
    }
    // 2.
    if (me == 0) {
      mem.fence();  // (R0)
    } else {
      const std::uint32_t winner = me - (1U << round);
      blocks_.signal(mem, blocks_.flag(winner, kFirstRound + round).raised[0], epoch, winner);
      if (await_release(mem, me, winner, epoch) == WaitResult::kAborted) return WaitResult::kAborted;
    }
    release_losers(mem, me, round, epoch);
    return WaitResult::kReleased;
  }

 private:
  enum : std::uint32_t { kGo, kFirstRound };

  static std::uint32_t num_flags(const hierbar_plan& plan) noexcept { return kFirstRound + num_doublings(plan.num_participants); }

  WaitResult await_release(Mem& mem, std::uint32_t me, std::uint32_t winner, Epoch epoch) const noexcept {
    if constexpr (kRelease == TournamentRelease::kFlag) return blocks_.await_release(mem, me, blocks_.flag(0, kGo), epoch, 0);
    return blocks_.await_release(mem, me, blocks_.flag(me, kGo), epoch, winner);
  }

  void release_losers(Mem& mem, std::uint32_t me, std::uint32_t num_rounds, Epoch epoch) const noexcept {
    if constexpr (kRelease == TournamentRelease::kFlag) {
      if (me == 0) blocks_.release_all(mem, 0, blocks_.flag(0, kGo), epoch);
    } else {
      // Rounds without an opponent come after all rounds with one.
      while (num_rounds != 0 && me + (std::uint64_t{1} << (num_rounds - 1)) >= blocks_.num_participants()) --num_rounds;
      const auto loser = [&](std::uint32_t i) { return me + (1U << (num_rounds - 1 - i)); };
      blocks_.release_each(mem, num_rounds, epoch, [&](std::uint32_t i) -> auto& { return blocks_.flag(loser(i), kGo); }, loser);
    }
  }

  Blocks<Mem> blocks_;
};

}  // namespace hierbar
