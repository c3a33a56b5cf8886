// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

namespace hierbar {

// A call that serves everybody who has asked for it before it began. Who asks gets one that begins
// later, whoever makes it.
//
// Steps of pass():
//   1. Read how many calls have begun. The next one serves the caller.
//   2. If it has been completed, return. If no call is in progress, begin it. Otherwise let others
//      run, and poll again.
//   3. Who has polled as often as it may makes a call without a number, and then completes the one
//      in progress: whoever waits for that one has asked before it began. So nobody depends on a
//      thread that has lost its cpu, or that a child of fork() has not got.
//
// Bound: as long as nobody loses its cpu there is at most one call in progress, and a caller waits
// for the rest of that one and for one more. Any number of threads that ask during one call are
// served by that call and the next.
//
// Ordering. All changes of `calls_` are read-modify-writes, so each of them is in the release
// sequence of every earlier one.
//   (F1) acq_rel read-modify-write, which changes nothing: the request. Pairs with (F3).
//   (F2) acquire load. Pairs with (F4): who finds its call completed sees what the call has done.
//   (F3) acq_rel compare-and-swap: begins a call. What everybody wrote whose (F1) came earlier
//        happens before the call.
//   (F4) release compare-and-swap: completes a call. It fails if another has completed it.
class SharedCalls {
 public:
  // How often a caller polls before it makes a call of its own. As long as some calls of
  // membarrier(2), with a sched_yield() in between.
  static constexpr int kPolls = 64;

  constexpr explicit SharedCalls(int polls = kPolls) noexcept : polls_(polls) {}

  // call() returns whether it did its work. let_others_run() is called between two polls. Returns
  // false if the own call failed. A failed call stays in progress for ever; those who come later
  // then make their own.
  template <class Call, class LetOthersRun>
  bool pass(Call&& call, LetOthersRun&& let_others_run) noexcept {
    const std::uint64_t needed =
        num_begun(calls_.fetch_add(0, std::memory_order_acq_rel)) + 1;  // (F1)
    for (int polls = polls_;;) {
      std::uint64_t seen = calls_.load(std::memory_order_acquire);  // (F2)
      if (num_begun(seen) - (seen & kInProgress) >= needed) return true;
      if ((seen & kInProgress) != 0) {
        if (--polls == 0) return make(seen, call);
        let_others_run();
      } else if (calls_.compare_exchange_weak(seen, seen + kOne + kInProgress,
                                              std::memory_order_acq_rel)) {  // (F3)
        return make(seen + kOne + kInProgress, call);
      }
    }
  }

 private:
  static constexpr std::uint64_t kInProgress = 1;
  static constexpr std::uint64_t kOne = 2;
  static constexpr std::uint64_t num_begun(std::uint64_t calls) noexcept { return calls / kOne; }

  // `begun`: the word while that call is in progress.
  template <class Call>
  bool make(std::uint64_t begun, Call&& call) noexcept {
    if (!call()) return false;
    calls_.compare_exchange_strong(begun, begun - kInProgress, std::memory_order_release,
                                   std::memory_order_relaxed);  // (F4)
    return true;
  }

  const int polls_;
  // How many calls have begun, and whether the last of them is in progress.
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace hierbar
