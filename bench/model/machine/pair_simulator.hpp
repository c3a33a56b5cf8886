// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "barrier/awaited_word.hpp"
#include "bench/model/machine/simulated_mem.hpp"
#include "bench/simulation/fiber.hpp"

namespace hierbar::bench::model {

// The costs of two cores that share lines. All but the first two differ by a few ns at most on
// every processor at hand.
struct PairCosts {
  double transfer;      // ns of one transaction, in which a copy is fetched or a line is taken over
  double poll_spacing;  // ns between two polls of a waiting core: its pauses
  // After this part of a transaction the other core has lost what is taken from it.
  double hand_over = 0.5;
  double rmw = 8;      // a read-modify-write of a line that is there: 18 to 25 cycles
  double access = 1;   // a load or store of a line that is there
  double episode = 5;  // a barrier's instructions without these accesses
};

// A passage of a ping-pong by stores is two transactions: the reader fetches a copy, then takes the
// writer's copy away. See docs/design/model.md#d0067.
inline PairCosts pair_costs(double one_way_ns, double poll_spacing_ns) {
  PairCosts costs{};
  costs.transfer = one_way_ns / 2;
  costs.poll_spacing = poll_spacing_ns;
  return costs;
}

// Two cores and their lines in simulated time, for barriers of two back to back. Unlike in
// Simulator, waiting cores poll at their spacing, because that decides the time of a barrier of
// two.
//
// A poll of a core without the line fetches a copy. A write of a line that the other core has takes
// it away. A line serves one transaction after the other. During the first half of a transaction
// the other core may go on using what it has.
//
// Loops that do nothing between two barriers need no special rule. If a transaction is shorter than
// the pauses, they fall into step by themselves. Then a period is shorter than one with a pause in
// it.
class PairSimulator {
 public:
  struct Word {
    std::uint64_t value;
  };

  // Calls `body(me)` for 0 and 1. Their words are in `num_lines` lines that begin at `memory`.
  // Returns what went wrong; empty if nothing did.
  std::string run(const PairCosts& costs, std::byte* memory, std::size_t num_lines,
                  std::uint32_t line_bytes, const std::function<void(std::uint32_t me)>& body);

  // The number of transactions in the run so far.
  std::uint64_t num_transfers() const { return num_transfers_; }

  // The running core calls the following functions.
  std::uint64_t load(std::uint32_t me, const Word& word);
  // The value becomes visible when the core has the line.
  void store(std::uint32_t me, Word& word, std::uint64_t value);
  template <class Change>
  std::uint64_t read_modify_write(std::uint32_t me, Word& word, Change&& change) {
    drain(me);
    fetch(me, word, Access::kWrite);
    const std::uint64_t before = word.value;
    word.value = change(before);
    cores_[me].now += costs_.rmw;
    return before;
  }
  void drain(std::uint32_t me);  // waits for the core's stores
  void pass(std::uint32_t me, double ns) { cores_[me].now += ns; }
  double now(std::uint32_t me) const { return cores_[me].now; }
  const PairCosts& costs() const { return costs_; }
  bool is_stopped() const { return !failure_.empty(); }

 private:
  struct Store {
    double visible;
    Word* word;
    std::uint64_t value;
  };
  struct Core {
    double now = 0;
    bool is_finished = false;
    std::vector<Store> stores;
  };
  struct Span {  // a time in which a core may read or write a line
    double from;
    double until;
  };
  struct Line {
    std::array<Span, 2> read;  // by core
    std::array<Span, 2> write;
    double busy_until;
  };
  enum class Access : std::uint8_t { kRead, kWrite };

  Line& line_of(const Word& word) {
    return lines_[static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&word) - memory_) /
                  line_bytes_];
  }
  void await_turn(std::uint32_t me);
  double take(std::uint32_t me, Line& line, Access access);
  void fetch(std::uint32_t me, const Word& word, Access access);
  void finish(std::uint32_t me);

  PairCosts costs_{};
  const std::byte* memory_ = nullptr;
  std::uint32_t line_bytes_ = 0;
  std::vector<Line> lines_;
  std::array<Core, 2> cores_;
  std::array<std::unique_ptr<Fiber>, 2> fibers_;
  Fiber main_;
  std::uint64_t num_transfers_ = 0;
  std::uint64_t num_steps_ = 0;
  std::string failure_;
};

// The barriers' Mem over a PairSimulator. Sleeping is allowed, so that the reads of sleepers and
// their fences are executed as in threads. But no wait is long enough for a sleep.
class PairMem : public SimulatedMem<PairSimulator, PairSimulator::Word> {
 public:
  using SimulatedMem::SimulatedMem;

  void fence() const noexcept {
    simulator_.drain(me_);
    simulator_.pass(me_, simulator_.costs().rmw);
  }
  template <class AwaitedWord>
  WaitResult wait(AwaitedWord& pending) const noexcept {
    while (!pending.ready()) {
      if (simulator_.is_stopped()) return WaitResult::kAborted;
      simulator_.pass(me_, simulator_.costs().poll_spacing);
    }
    return WaitResult::kReleased;
  }
  bool can_sleep() const noexcept { return true; }
};

}  // namespace hierbar::bench::model
