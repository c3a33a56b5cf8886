// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "barrier/baselines/blocks.hpp"

namespace hierbar {

// The software combining tree, `combining-tree`: P.-C. Yew, N.-F. Tzeng, D. H. Lawrie,
// "Distributing hot-spot addressing in large-scale multiprocessors", IEEE Trans. Computers C-36(4),
// 1987; as a barrier in Mellor-Crummey and Scott, 1991, section 3.2. Here the tree is binary.
//
//   1. Two participants meet at each node of the tree, at its counter. The first one waits there
//      for the node's flag. The second one clears the counter and goes on to the next node. At the
//      lowest level neighbours meet.
//   2. A participant that was second at the root, or was released at a node, releases the nodes
//      below at which it was second, from above.
//
// A counter counts to two. A participant adds not 1 but its number + 1, so the second one knows
// whom it may have to wake. This is the only index in all baselines that is read from memory which
// others may write, so it is checked.
//
// Messages: 3(n - 1), since a node needs two read-modify-writes and a release. Depth: 2 ceil(log2
// n) line transfers up, and ceil(log2 n) down. Up there are two for each level, because the second
// one takes the counter's line from the first one, which took it from elsewhere.
template <class Mem>
class CombiningTreeBarrier {
 public:
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return Blocks<Mem>::size_bytes(plan, kNumFlags);
  }

  CombiningTreeBarrier(const hierbar_plan& plan, void* memory) noexcept
      : blocks_(plan, memory, kNumFlags) {}

  [[nodiscard]] WaitResult cross(Mem& mem, std::uint32_t me) const noexcept {
    const Epoch epoch = begin_episode(mem, blocks_.own(me));
    Passed passed;
    // 1.
    for (std::uint32_t level = 0; std::uint64_t{1} << level < blocks_.num_participants(); ++level) {
      const std::uint32_t node = node_above(me, level);
      if (node >= blocks_.num_participants()) continue;  // the other half is empty
      auto& counter = blocks_.counter(node);
      // (C1) pairs with the other participant's (C1).
      const std::uint64_t first = mem.fetch_add(counter, std::uint64_t{me} + 1);  // (C1)
      if (first == 0) {
        if (blocks_.await_release(mem, me, blocks_.flag(node, kGo), epoch, node) ==
            WaitResult::kAborted)
          return WaitResult::kAborted;
        break;
      }
      mem.store_relaxed(counter, 0);  // (C2)
      passed.add(node, participant_of(first));
    }
    // 2.
    blocks_.release_each(
        mem, passed.count, epoch,
        [&](std::uint32_t i) -> auto& { return blocks_.flag(passed.from_above(i).node, kGo); },
        [&](std::uint32_t i) { return passed.from_above(i).waiter; });
    return WaitResult::kReleased;
  }

 private:
  enum : std::uint32_t { kGo, kNumFlags };

  // The nodes at which this participant was second in this episode, and who was first at each.
  struct Passed {
    struct Entry {
      std::uint32_t node;
      std::uint32_t waiter;
    };
    Entry entries[32];
    std::uint32_t count = 0;

    void add(std::uint32_t node, std::uint32_t waiter) noexcept {
      entries[count++] = Entry{node, waiter};
    }
    const Entry& from_above(std::uint32_t i) const noexcept { return entries[count - 1 - i]; }
  };

  // Who was first at a counter. Any participant where the counter says nonsense: it is woken in
  // vain.
  std::uint32_t participant_of(std::uint64_t counted) const noexcept {
    return counted <= blocks_.num_participants() ? static_cast<std::uint32_t>(counted - 1) : 0;
  }

  // The node above the 2^(level + 1) participants around `me`. It lies in the block of the first
  // participant of their upper half, and its number is that participant's. Every participant but 0
  // has exactly one node in this way.
  static std::uint32_t node_above(std::uint32_t me, std::uint32_t level) noexcept {
    return (me >> level | 1U) << level;
  }

  Blocks<Mem> blocks_;
};

// The tree barrier of J. M. Mellor-Crummey and M. L. Scott, `mcs`: ACM TOCS 9(1), 1991, section
// 3.5, algorithm 11.
//
//   1. Arrival goes up a tree of arity 4. Each child writes its own flag. The flags of a parent's
//      four children are in one line of the parent, which therefore reads them together.
//   2. Wake-up goes down another tree, a binary one. Each child waits for a flag on its own line.
//
// The original has four bytes in one word, and the parent sets them again for the next episode.
// Here they are four words with epochs, which nobody has to set again.
//
// Messages: 2(n - 1), of which those to one parent share a line. Depth: about log4 n line transfers
// up and about log2 n down. Up it may be four times as many, when the children of one parent write
// at the same time and take the line from each other.
template <class Mem>
class McsBarrier {
 public:
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return Blocks<Mem>::size_bytes(plan, kNumFlags);
  }

  McsBarrier(const hierbar_plan& plan, void* memory) noexcept : blocks_(plan, memory, kNumFlags) {}

  [[nodiscard]] WaitResult cross(Mem& mem, std::uint32_t me) const noexcept {
    const Epoch epoch = begin_episode(mem, blocks_.own(me));
    // 1.
    const std::uint32_t num_arriving = num_children(me, kArrivalArity);
    for (std::uint32_t i = 0; i < num_arriving; ++i) {
      auto& arrival = blocks_.flag(me, kArrivals).raised[i];
      if (blocks_.await_signal(mem, me, arrival, epoch, kArrivalArity * me + 1 + i) ==
          WaitResult::kAborted)
        return WaitResult::kAborted;
    }
    if (me == 0) {
      mem.fence();  // (R0)
    } else {
      const std::uint32_t parent = (me - 1) / kArrivalArity;
      blocks_.signal(mem, blocks_.flag(parent, kArrivals).raised[(me - 1) % kArrivalArity], epoch,
                     parent);
      // 2.
      if (blocks_.await_release(mem, me, blocks_.flag(me, kGo), epoch, (me - 1) / kWakeUpArity) ==
          WaitResult::kAborted)
        return WaitResult::kAborted;
    }
    const std::uint32_t first_child = kWakeUpArity * me + 1;
    blocks_.release_each(
        mem, num_children(me, kWakeUpArity), epoch,
        [&](std::uint32_t i) -> auto& { return blocks_.flag(first_child + i, kGo); },
        [&](std::uint32_t i) { return first_child + i; });
    return WaitResult::kReleased;
  }

 private:
  enum : std::uint32_t { kArrivals, kGo, kNumFlags };
  static constexpr std::uint32_t kArrivalArity = 4;
  static constexpr std::uint32_t kWakeUpArity = 2;
  static_assert(kArrivalArity == Blocks<Mem>::kWordsPerFlag);

  // The number of children of `parent` in a heap of that arity.
  std::uint32_t num_children(std::uint32_t parent, std::uint32_t arity) const noexcept {
    const std::uint64_t first = std::uint64_t{arity} * parent + 1;
    const std::uint64_t count = blocks_.num_participants();
    return first >= count
               ? 0
               : static_cast<std::uint32_t>(std::min<std::uint64_t>(arity, count - first));
  }

  Blocks<Mem> blocks_;
};

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
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return Blocks<Mem>::size_bytes(plan, num_flags(plan));
  }

  TournamentBarrier(const hierbar_plan& plan, void* memory) noexcept
      : blocks_(plan, memory, num_flags(plan)) {}

  [[nodiscard]] WaitResult cross(Mem& mem, std::uint32_t me) const noexcept {
    const Epoch epoch = begin_episode(mem, blocks_.own(me));
    // 1. `round` ends as the round that `me` loses. The champion's is one more than there are.
    std::uint32_t round = 0;
    for (; std::uint64_t{1} << round < blocks_.num_participants() && (me >> round & 1) == 0;
         ++round) {
      const std::uint32_t loser = me + (1U << round);
      if (loser >= blocks_.num_participants()) continue;  // wins without an opponent
      auto& beaten = blocks_.flag(me, kFirstRound + round).raised[0];
      if (blocks_.await_signal(mem, me, beaten, epoch, loser) == WaitResult::kAborted)
        return WaitResult::kAborted;
    }
    // 2.
    if (me == 0) {
      mem.fence();  // (R0)
    } else {
      const std::uint32_t winner = me - (1U << round);
      blocks_.signal(mem, blocks_.flag(winner, kFirstRound + round).raised[0], epoch, winner);
      if (await_release(mem, me, winner, epoch) == WaitResult::kAborted)
        return WaitResult::kAborted;
    }
    release_losers(mem, me, round, epoch);
    return WaitResult::kReleased;
  }

 private:
  enum : std::uint32_t { kGo, kFirstRound };

  static std::uint32_t num_flags(const hierbar_plan& plan) noexcept {
    return kFirstRound + num_doublings(plan.num_participants);
  }

  WaitResult await_release(Mem& mem, std::uint32_t me, std::uint32_t winner,
                           Epoch epoch) const noexcept {
    if constexpr (kRelease == TournamentRelease::kFlag)
      return blocks_.await_release(mem, me, blocks_.flag(0, kGo), epoch, 0);
    return blocks_.await_release(mem, me, blocks_.flag(me, kGo), epoch, winner);
  }

  void release_losers(Mem& mem, std::uint32_t me, std::uint32_t num_rounds,
                      Epoch epoch) const noexcept {
    if constexpr (kRelease == TournamentRelease::kFlag) {
      if (me == 0) blocks_.release_all(mem, 0, blocks_.flag(0, kGo), epoch);
    } else {
      // Rounds without an opponent come after all rounds with one.
      while (num_rounds != 0 &&
             me + (std::uint64_t{1} << (num_rounds - 1)) >= blocks_.num_participants())
        --num_rounds;
      const auto loser = [&](std::uint32_t i) { return me + (1U << (num_rounds - 1 - i)); };
      blocks_.release_each(
          mem, num_rounds, epoch,
          [&](std::uint32_t i) -> auto& { return blocks_.flag(loser(i), kGo); }, loser);
    }
  }

  Blocks<Mem> blocks_;
};

}  // namespace hierbar
