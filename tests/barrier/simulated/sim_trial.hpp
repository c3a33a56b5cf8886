// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "sim_machine.hpp"
#include "sim_mem.hpp"
#include "tests/barrier/engine_subject.hpp"
#include "tests/barrier/oracle.hpp"
#include "tests/support/test_plans.hpp"

namespace hierbar::test {

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
        machine_(plan_.num_participants, plan_.num_participants * subject.template words_per_participant<Mem>(plan_),
                 Script::num_cells(plan_.num_participants)) {}

  Outcome run(std::uint64_t seed) {
    const Script script(plan_, seed, kNumRounds);
    machine_.begin(seed);
    std::uint32_t next_word = 0;
    subject_.template start<Mem>(plan_, storage_.data(), script.start(), [&](SimWord& word, std::uint64_t value) {
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
    void write(std::uint32_t me, std::uint32_t cell, std::uint64_t value) { machine.write_cell(me, cell, value); }
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
