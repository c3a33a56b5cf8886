// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "sim_machine.hpp"

namespace hierbar::test {

// A word of simulated memory is a number; its value is in the machine. So zero bytes are no start
// value; see Subject in oracle.hpp.
struct SimWord {
  std::uint32_t index;
};

// The barrier's Mem over a SimMachine, one for each participant. The tests of broken barriers
// derive from it and hide single operations.
class SimMem {
 public:
  using Word = SimWord;
  using Order = SimMachine::Order;

  SimMem(SimMachine& machine, std::uint32_t me) noexcept : machine_(machine), me_(me) {}

  std::uint64_t load_relaxed(const Word& word) const noexcept { return machine_.load(me_, word.index, Order::kRelaxed); }
  std::uint64_t load_acquire(const Word& word) const noexcept { return machine_.load(me_, word.index, Order::kOrdered); }
  std::uint64_t load_seq_cst(const Word& word) const noexcept { return load_acquire(word); }
  void store_relaxed(Word& word, std::uint64_t value) const noexcept { machine_.store(me_, word.index, value, Order::kRelaxed); }
  void store_release(Word& word, std::uint64_t value) const noexcept { machine_.store(me_, word.index, value, Order::kOrdered); }
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    return machine_.rmw(me_, word.index, Order::kOrdered, [value](std::uint64_t) { return value; });
  }
  std::uint64_t fetch_or(Word& word, std::uint64_t bits) const noexcept {
    return machine_.rmw(me_, word.index, Order::kOrdered, [bits](std::uint64_t before) { return before | bits; });
  }
  std::uint64_t fetch_add(Word& word, std::uint64_t value) const noexcept {
    return machine_.rmw(me_, word.index, Order::kOrdered, [value](std::uint64_t before) { return before + value; });
  }
  std::uint64_t fetch_or_relaxed(Word& word, std::uint64_t bits) const noexcept {
    return machine_.rmw(me_, word.index, Order::kRelaxed, [bits](std::uint64_t before) { return before | bits; });
  }
  std::uint64_t fetch_add_relaxed(Word& word, std::uint64_t value) const noexcept {
    return machine_.rmw(me_, word.index, Order::kRelaxed, [value](std::uint64_t before) { return before + value; });
  }
  void fence() const noexcept { machine_.fence(me_); }
  void light_fence() const noexcept { machine_.light_fence(me_); }
  bool heavy_fence() const noexcept {
    machine_.heavy_fence(me_);
    return true;
  }
  void fence_streams() const noexcept {}  // there are no non-temporal stores

  // Polls a few times, then watches the word or sleeps, as the schedule decides for this wait.
  // announce() reads the word itself. A watcher that has not polled in this wait could wait for a
  // change that it saw in an earlier one (docs/design/testing.md#d0068).
  template <class AwaitedWord>
  WaitResult wait(AwaitedWord& pending) const noexcept {
    const bool sleeps = machine_.draw_sleep();
    for (std::uint32_t polls = (sleeps ? 0 : 1) + machine_.draw_polls();; polls = 1 + machine_.draw_polls()) {
      for (; polls > 0; --polls) {
        if (pending.ready()) return WaitResult::kReleased;
      }
      if (machine_.is_stopped()) return WaitResult::kAborted;
      if (sleeps) {
        machine_.prepare_sleep(me_);
        if (pending.announce()) machine_.sleep(me_);
        pending.retract();
      } else {
        machine_.watch(me_, pending.awaited().index);
      }
    }
  }
  void wake(std::uint32_t participant) const noexcept { machine_.wake(participant); }
  bool can_sleep() const noexcept { return machine_.can_sleep(); }

 protected:
  SimMachine& machine_;
  std::uint32_t me_;
};

}  // namespace hierbar::test
