// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

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
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept { return Blocks<Mem>::size_bytes(plan, kNumFlags); }

  CombiningTreeBarrier(const hierbar_plan& plan, void* memory) noexcept : blocks_(plan, memory, kNumFlags) {}

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
        if (blocks_.await_release(mem, me, blocks_.flag(node, kGo), epoch, node) == WaitResult::kAborted)
          return WaitResult::kAborted;
        break;
      }
      mem.store_relaxed(counter, 0);  // (C2)
      passed.add(node, participant_of(first));
    }
    // 2.
    blocks_.release_each(
        mem, passed.count, epoch, [&](std::uint32_t i) -> auto& { return blocks_.flag(passed.from_above(i).node, kGo); },
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

    void add(std::uint32_t node, std::uint32_t waiter) noexcept { entries[count++] = Entry{node, waiter}; }
    const Entry& from_above(std::uint32_t i) const noexcept { return entries[count - 1 - i]; }
  };

  // Who was first at a counter. Any participant where the counter says nonsense: it is woken in vain.
  std::uint32_t participant_of(std::uint64_t counted) const noexcept {
    return counted <= blocks_.num_participants() ? static_cast<std::uint32_t>(counted - 1) : 0;
  }

  // The node above the 2^(level + 1) participants around `me`. It lies in the block of the first
  // participant of their upper half, and its number is that participant's. Every participant but 0
  // has exactly one node in this way.
  static std::uint32_t node_above(std::uint32_t me, std::uint32_t level) noexcept { return (me >> level | 1U) << level; }

  Blocks<Mem> blocks_;
};

}  // namespace hierbar
