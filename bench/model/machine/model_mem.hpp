// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "bench/model/machine/simulated_mem.hpp"
#include "bench/model/machine/simulator.hpp"

namespace hierbar::bench::model {

// The barriers' Mem over a Simulator. No participant may sleep.
class ModelMem : public SimulatedMem<Simulator, Word> {
 public:
  using SimulatedMem::SimulatedMem;

  void fence() const noexcept { simulator_.settle(me_); }

  template <class AwaitedWord>
  WaitResult wait(AwaitedWord& pending) const noexcept {
    while (!pending.ready()) {
      if (simulator_.is_stopped()) return WaitResult::kAborted;
      simulator_.await_change(me_, pending.awaited());
    }
    return WaitResult::kReleased;
  }
  bool can_sleep() const noexcept { return false; }
};

}  // namespace hierbar::bench::model
