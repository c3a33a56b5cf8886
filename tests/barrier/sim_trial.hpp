// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "sim_machine.hpp"
#include "sim_mem.hpp"
#include "support/test_plans.hpp"

namespace hierbar::test {

// The words of a slot have numbers one after another, in the order in which its lines declare them.
inline constexpr std::uint32_t kNumArrivalWords = 4;
inline constexpr std::uint32_t kWaitingForWord = 9;
inline constexpr std::uint32_t kWordsPerParticipant = 10;  // arrived[2][2], two releases of two, epoch, waiting_for

// Which words hold a participant's arrivals in even and in odd episodes.
enum class ArrivalWords : std::uint8_t {
  kAlternating,  // two
  kOne,          // the same: breaks the one-ahead rule
};

// One shape on the simulated machine; run() plays the oracle under one seed. Mem is SimMem or something derived from it.
template <class Mem>
class SimTrial {
 public:
  static constexpr std::uint32_t kNumRounds = 3;  // six crossings: both arrival words are used three times

  explicit SimTrial(const TestPlan& plan, ArrivalWords arrival_words = ArrivalWords::kAlternating)
      : owner_(plan),
        plan_(owner_.view()),
        arrival_words_(arrival_words),
        storage_(Lines<SimWord>::size_bytes(plan_) / sizeof(StorageLine) + 1),
        machine_(plan_.num_participants, plan_.num_participants * kWordsPerParticipant,
                 Script::num_cells(plan_.num_participants)) {}

  Outcome run(std::uint64_t seed) {
    const Script script(plan_, seed, kNumRounds);
    machine_.begin(seed);
    std::uint32_t next_word = 0;
    start_lines<SimWord>(plan_, storage_.data(), script.start(), [&](SimWord& word, std::uint64_t value) {
      word.index = next_word++;
      machine_.set_initial(word.index, value);
    });
    if (arrival_words_ == ArrivalWords::kOne) join_arrival_words(script.start());
    const Oracle<Mem, World> oracle(plan_, storage_.data(), script, world_);
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

  void join_arrival_words(Epoch start) {
    const Lines<SimWord> lines(storage_.data(), plan_.line_bytes);
    const auto parity = start >> kEpochShift & 1;  // the word that is up to date
    for (std::uint32_t p = 0; p < plan_.num_participants; ++p) {
      for (auto& lane : lines.edge(plan_.nodes[p].slot).arrived) lane[1 - parity] = lane[parity];
    }
  }

  const TestPlan owner_;
  const hierbar_plan plan_;
  const ArrivalWords arrival_words_;
  std::vector<StorageLine> storage_;
  SimMachine machine_;
  World world_{machine_};
};

// HIERBAR_TEST_SEED=<seed> runs that seed alone; HIERBAR_TEST_SCHEDULES=<count> runs seeds 1 to count instead of `usual`.
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
