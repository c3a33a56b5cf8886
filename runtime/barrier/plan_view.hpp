// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "barrier/barrier_memory.hpp"
#include "plan/plan.h"

namespace hierbar {

// How an episode ended for one participant.
struct Crossing {
  WaitResult result;
  std::uint32_t bits;  // kReleased: the OR of all participants' bits. kAborted: unspecified.
};

// A plan and its lines as the paths of a barrier use them: what the hot path needs is copied, so
// that it lies together. Only for Barrier (barrier.hpp), whose requirements apply.
template <class Mem>
class PlanView {
 public:
  using Word = typename Mem::Word;

  PlanView(const hierbar_plan& plan, void* lines, Fencing fencing) noexcept
      : nodes_(plan.nodes),
        leaders_(plan.leaders),
        lines_(lines, plan.line_bytes),
        num_leaders_(plan.num_leaders),
        one_line_per_group_(plan.release == HIERBAR_RELEASE_LINES),
        fencing_(plan.num_crews == 0 ? fencing : Fencing::kByWriters),
        num_crews_(plan.num_crews),
        num_participants_(plan.num_participants),
        children_(plan.children) {}

  static int parity(Epoch epoch) noexcept { return static_cast<int>(epoch >> kEpochShift & 1); }

  OwnLine<Word>& own(std::uint32_t participant) const noexcept {
    return lines_.own(nodes_[participant].slot);
  }

  Word& arrived(std::uint32_t participant, Epoch epoch) const noexcept {
    const hierbar_plan_node& node = nodes_[participant];
    if (num_leaders_ == 2 && participant == leaders_[1])
      return lines_.edge(nodes_[leaders_[0]].slot).arrived[1][parity(epoch)];
    return lines_.edge(node.slot).arrived[0][parity(epoch)];
  }

  // Of those who sleep for the participant's arrival, where sleepers fence.
  Word& arrival_sleepers(std::uint32_t participant) const noexcept {
    return lines_.group(nodes_[participant].slot).arrival_sleepers;
  }

  // edge_release(): the release that its parent writes for this participant alone.
  // group_release(): the one that this participant writes for all of its children.
  Release<Word>& edge_release(std::uint32_t participant) const noexcept {
    return lines_.edge(nodes_[participant].slot).release;
  }
  Release<Word>& group_release(std::uint32_t participant) const noexcept {
    return lines_.group(nodes_[participant].slot).release;
  }

  // A wait after the own arrival. The trace may use it: its work then overlaps with the time that
  // the others take to arrive. Parents do not call the trace, because their children would wait as
  // well.
  template <class Trace>
  static WaitResult await_others(Mem& mem, AwaitedWord<Mem>& pending, const Trace& trace,
                                 std::uint32_t num_children = 0) noexcept {
    if constexpr (Trace::kUsesWaits) {
      if (pending.ready()) return WaitResult::kReleased;
      if (num_children == 0) trace.waiting();
    }
    return mem.wait(pending);
  }

  // Relaxed: (A1), (A3) or (R3), which comes before, has made waiting_for (S1) visible. An outdated
  // value only wakes somebody who is awake.
  void wake_if_waiting_for(Mem& mem, std::uint32_t waiter, std::uint32_t writer) const noexcept {
    fence_before_wake(mem);
    if (mem.load_relaxed(own(waiter).waiting_for) == std::uint64_t{writer} + 1) mem.wake(waiter);
  }

  // (R5) seq_cst fence between the plain store (A2) or (R1) and the wake-up, where sleepers fence.
  //      Pairs with (S3) of an announcement that stays over several sleeps.
  void fence_before_wake(Mem& mem) const noexcept {
    if (fencing_ == Fencing::kBySleepers) mem.fence();  // (R5) pairs with (S3)
  }

  // Between a release and the look for sleepers.
  //   (R2) seq_cst fence between (R1) and (R3). Pairs with (S3); see AwaitedWord::announce().
  //   (R4) light fence in its place, where sleepers fence. Pairs with (S5).
  void fence_before_look(Mem& mem) const noexcept {
    if (fencing_ == Fencing::kByWriters) {
      mem.fence();  // (R2) pairs with (S3)
    } else {
      mem.light_fence();  // (R4) pairs with (S5)
    }
  }

  const hierbar_plan_node* nodes_;
  const std::uint32_t* leaders_;
  BarrierMemory<Word> lines_;
  std::uint32_t num_leaders_;
  bool one_line_per_group_;
  Fencing fencing_;
  std::uint32_t num_crews_;
  std::uint32_t num_participants_;
  const std::uint32_t* children_;
};

}  // namespace hierbar
