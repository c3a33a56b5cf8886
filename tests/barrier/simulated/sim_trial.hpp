// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "barrier/awaited_word.hpp"
#include "tests/barrier/engine_subject.hpp"
#include "tests/barrier/oracle.hpp"
#include "tests/barrier/simulated/sim_machine.hpp"
#include "tests/support/test_plans.hpp"

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

  std::uint64_t load_relaxed(const Word& word) const noexcept {
    return machine_.load(me_, word.index, Order::kRelaxed);
  }
  std::uint64_t load_acquire(const Word& word) const noexcept {
    return machine_.load(me_, word.index, Order::kOrdered);
  }
  std::uint64_t load_seq_cst(const Word& word) const noexcept { return load_acquire(word); }
  void store_relaxed(Word& word, std::uint64_t value) const noexcept {
    machine_.store(me_, word.index, value, Order::kRelaxed);
  }
  void store_release(Word& word, std::uint64_t value) const noexcept {
    machine_.store(me_, word.index, value, Order::kOrdered);
  }
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    return machine_.rmw(me_, word.index, Order::kOrdered, [value](std::uint64_t) { return value; });
  }
  std::uint64_t fetch_or(Word& word, std::uint64_t bits) const noexcept {
    return machine_.rmw(me_, word.index, Order::kOrdered,
                        [bits](std::uint64_t before) { return before | bits; });
  }
  std::uint64_t fetch_add(Word& word, std::uint64_t value) const noexcept {
    return machine_.rmw(me_, word.index, Order::kOrdered,
                        [value](std::uint64_t before) { return before + value; });
  }
  std::uint64_t fetch_or_relaxed(Word& word, std::uint64_t bits) const noexcept {
    return machine_.rmw(me_, word.index, Order::kRelaxed,
                        [bits](std::uint64_t before) { return before | bits; });
  }
  std::uint64_t fetch_add_relaxed(Word& word, std::uint64_t value) const noexcept {
    return machine_.rmw(me_, word.index, Order::kRelaxed,
                        [value](std::uint64_t before) { return before + value; });
  }
  void fence() const noexcept { machine_.fence(me_); }
  void light_fence() const noexcept { machine_.light_fence(me_); }
  bool heavy_fence() const noexcept {
    machine_.heavy_fence(me_);
    return true;
  }
  void publish(Word& word, std::uint64_t value) const noexcept { store_release(word, value); }
  void fence_streams() const noexcept {}  // there are no non-temporal stores

  const std::byte* data_to_read(const std::byte* data, std::size_t bytes) const noexcept {
    machine_.access_data(me_, data, bytes, /*writes=*/false);
    return data;
  }
  std::byte* data_to_write(std::byte* data, std::size_t bytes) const noexcept {
    machine_.access_data(me_, data, bytes, /*writes=*/true);
    return data;
  }

  // Polls a few times, then watches the word or sleeps, as the schedule decides for this wait. If
  // a sleep ends without a reason, the next one may be under the same announcement.
  // announce() reads the word itself. A watcher that has not polled in this wait could wait for a
  // change that it saw in an earlier one (docs/design/testing.md#d0068).
  template <class AwaitedWord>
  WaitResult wait(AwaitedWord& pending) const noexcept {
    const bool sleeps = machine_.draw_sleep();
    const bool announces_once = sleeps && machine_.draw_announces_once();
    for (std::uint32_t polls = (sleeps ? 0 : 1) + machine_.draw_polls();;
         polls = 1 + machine_.draw_polls()) {
      for (; polls > 0; --polls) {
        if (!pending.ready()) continue;
        pending.retract();
        return WaitResult::kReleased;
      }
      if (machine_.is_stopped()) return WaitResult::kAborted;
      if (sleeps) {
        machine_.prepare_sleep(me_);
        machine_.fence(me_);  // as of the store (P1), parking.hpp
        if (pending.announce()) machine_.sleep(me_);
        if (!announces_once) pending.retract();
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

// One shape on the simulated machine; run() runs the oracle under one seed. Mem is SimMem or
// derived from it. A participant's words have consecutive numbers, in the order in which the
// subject starts them.
template <class Mem, class Subject = EngineSubject>
class SimTrial {
 public:
  // Six crossings: both arrival words of the engine are used three times.
  static constexpr std::uint32_t kNumRounds = 3;

  explicit SimTrial(const TestPlan& plan, Subject subject = Subject{})
      : owner_(plan),
        plan_(owner_.view()),
        subject_(subject),
        storage_(subject.template size_bytes<Mem>(plan_) / sizeof(StorageLine) + 1),
        machine_(plan_.num_participants,
                 plan_.num_participants * subject.template words_per_participant<Mem>(plan_),
                 Script::num_cells(plan_.num_participants)) {
    machine_.set_data(&storage_[0].bytes[0], storage_.size() * sizeof(StorageLine));
  }

  Outcome run(std::uint64_t seed) {
    const Script script(plan_, seed, kNumRounds);
    machine_.begin(seed);
    std::uint32_t next_word = 0;
    subject_.template start<Mem>(plan_, storage_.data(), script.start(),
                                 [&](SimWord& word, std::uint64_t value) {
                                   word.index = next_word++;
                                   machine_.set_initial(word.index, value);
                                 });
    const auto cross = subject_.template make_cross<Mem>(plan_, storage_.data(), script, world_);
    const Oracle<Mem, World, decltype(cross)> oracle(script, world_, cross);
    return machine_.run([&](std::uint32_t me) {
      Mem mem(machine_, me);
      oracle.run(mem, me);
    });
  }

 private:
  struct alignas(64) StorageLine {
    std::byte bytes[64];
  };

  struct World {
    SimMachine& machine;
    void write(std::uint32_t me, std::uint32_t cell, std::uint64_t value) {
      machine.write_cell(me, cell, value);
    }
    std::uint64_t read(std::uint32_t me, std::uint32_t cell) { return machine.read_cell(me, cell); }
    void fail(std::uint32_t me, const std::string& text) {
      machine.fail(Failure::kWrongValue, "participant " + std::to_string(me) + ": " + text);
    }
  };

  const TestPlan owner_;
  const hierbar_plan plan_;
  const Subject subject_;
  std::vector<StorageLine> storage_;
  SimMachine machine_;
  World world_{machine_};
};

// HIERBAR_TEST_SEED=<seed> runs that seed alone. HIERBAR_TEST_SCHEDULES=<count> runs seeds 1 to
// count, in place of `usual`.
struct Seeds {
  std::uint64_t first;
  std::uint64_t last;
};

inline Seeds chosen_seeds(std::uint64_t usual) {
  if (const char* seed = std::getenv("HIERBAR_TEST_SEED"); seed != nullptr) {
    const std::uint64_t only = std::strtoull(seed, nullptr, 10);
    return {only, only};
  }
  if (const char* count = std::getenv("HIERBAR_TEST_SCHEDULES"); count != nullptr) {
    return {1, std::max<std::uint64_t>(std::strtoull(count, nullptr, 10), 1)};
  }
  return {1, usual};
}

}  // namespace hierbar::test
