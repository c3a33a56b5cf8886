// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace hierbar {

// Release fan-out (fork, and the second half of a split barrier). Each release writes to the
// target's cache line and costs the writer one transfer. One thread that releases fifteen others
// makes the last one wait for fifteen transfers. So they pass it on:
//
//   1. The leaders are one queue, headed by participant 0. The children of each parent are another
//      one, headed by the parent.
//   2. In each queue the one at position i (the head is at 0) releases those at the positions
//      i * width + 1 to i * width + width, as far as there are any.
//
// With width 2, a queue of eight:       head
//                                      1    2
//                                     3 4  5 6
//                                    7
//
// Everybody but participant 0 stands behind the head of exactly one queue, and at a position that
// exactly one other position releases. That one is nearer to the head, or is the head, which is
// nearer to participant 0 in the plan. So everybody is released once, and the chain ends.
//
// What a host must do:
//   - The release itself carries all data: a participant that passes it on first copies the data,
//     since it may then be overwritten. A released participant reads the data after an acquire, and
//     its own release is a full barrier, so the end of the chain sees all of it too.
//   - A participant passes on before it arrives at the next gather. By then all that it reads, plan
//     and own line, is still as its releaser left it: nobody releases again until all have arrived.
//   - All participants use the same plan and the same width in one release.
inline constexpr std::uint32_t kReleaseWidth = 4;

// The head of a queue releases all others of it. For participants that outnumber their cpus: one
// that waits for a cpu cannot pass anything on.
inline constexpr std::uint32_t kReleaseAtOnce = ~std::uint32_t{0};

struct ReleaseWidths {
  std::uint32_t of_leaders;
  std::uint32_t of_members;
};

// One queue. `at(i)` is the participant at position i + 1 of `count` behind the head.
template <class At, class Release>
void pass_on_in_queue(bool is_head, std::uint32_t me, std::uint32_t count, std::uint32_t width,
                      const At& at, Release& release) noexcept {
  std::uint32_t begin = 0;
  std::uint32_t end = count < width ? count : width;
  if (!is_head) {
    if (count <= width) return;  // the head has released all
    std::uint32_t position = 1;
    while (at(position - 1) != me) ++position;
    if (position > (count - 1) / width) return;
    begin = position * width;
    end = begin + width < count ? begin + width : count;
  }
  for (std::uint32_t i = begin; i < end; ++i) release(at(i));
}

// Calls release(participant) for each one that `me` releases, the leaders first: they are the
// farthest, with the largest subtrees below them. `shape` has node(), child(), num_leaders() and
// leader(), as Barrier has.
template <class Shape, class Release>
void pass_on(const Shape& shape, std::uint32_t me, const ReleaseWidths& widths,
             Release&& release) noexcept {
  const hierbar_plan_node& node = shape.node(me);
  if (node.parent == me) {
    const auto leader = [&](std::uint32_t i) { return shape.leader(i + 1); };
    pass_on_in_queue(me == 0, me, shape.num_leaders() - 1, widths.of_leaders, leader, release);
  } else {
    const hierbar_plan_node& parent = shape.node(node.parent);
    const auto sibling = [&](std::uint32_t i) { return shape.child(parent, i); };
    pass_on_in_queue(false, me, parent.num_children, widths.of_members, sibling, release);
  }
  const auto child = [&](std::uint32_t i) { return shape.child(node, i); };
  pass_on_in_queue(true, me, node.num_children, widths.of_members, child, release);
}

}  // namespace hierbar
