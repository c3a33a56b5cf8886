// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "barrier/algorithm.hpp"
#include "bench/common/random.hpp"
#include "tests/barrier/oracle.hpp"
#include "tests/support/test_plans.hpp"

namespace hierbar::test {

// A baseline, and the plan over which it crosses.
struct BaselineCase {
  Algorithm algorithm;
  TestPlan plan;

  std::string name() const {
    std::string text = std::string(algorithm_name(algorithm)) + "_" + plan.name();
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
  }
};

// Every baseline with each of these numbers of participants. `topo` follows the plan's groups, so
// it gets more plans: groups of one level and of several, of equal and of different sizes, of
// neighbours and of participants in turn.
inline std::vector<BaselineCase> baseline_cases(const std::vector<std::uint32_t>& counts) {
  std::vector<BaselineCase> cases;
  for (const NamedAlgorithm& named : kAlgorithms) {
    if (named.algorithm == Algorithm::kHier) continue;
    for (const std::uint32_t count : counts) cases.push_back({named.algorithm, make_flat(count)});
  }
  const std::uint32_t most = *std::max_element(counts.begin(), counts.end());
  const auto add_groups = [&](std::string name, const ForestShape& shape) {
    TestPlan plan = make_forest(std::move(name), shape);
    if (plan.view().num_participants <= most) cases.push_back({Algorithm::kTopo, std::move(plan)});
  };
  constexpr auto kFlags = HIERBAR_RELEASE_FLAGS;
  add_groups("one_group_5", {{5}, 4, kFlags});
  add_groups("groups_3_1_1", {{3, 1, 1}, 2, kFlags});
  add_groups("groups_2x4_round", {{4, 4}, 3, kFlags, Numbering::kRound});
  add_groups("groups_4x4_two_levels", {{4, 4, 4, 4}, 3, kFlags, Numbering::kBlocks, 2});
  add_groups("groups_11x3_round",
             {std::vector<std::uint32_t>(11, 3), 2, kFlags, Numbering::kRound});
  add_groups("groups_16x4_two_levels_round",
             {std::vector<std::uint32_t>(16, 4), 3, kFlags, Numbering::kRound, 4});
  return cases;
}

// A baseline only crosses, whatever the script says about bits and phases.
struct BaselineSubject {
  Algorithm algorithm;

  template <class Mem>
  std::size_t size_bytes(const hierbar_plan& plan) const {
    return barrier_size_bytes<Mem>(algorithm, plan);
  }
  // epoch, waiting_for, counter, and all words of every flag for which there is room.
  template <class Mem>
  std::uint32_t words_per_participant(const hierbar_plan& plan) const {
    return 3 + num_flags<Mem>(plan) * (Blocks<Mem>::kWordsPerFlag + 1);
  }
  template <class Mem, class Set>
  void start(const hierbar_plan& plan, void* memory, Epoch start, Set&& set) const {
    const Blocks<Mem> blocks(plan, memory, num_flags<Mem>(plan));
    for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
      // A sleep bit of a waiter that woke by itself.
      const WordValue left_over = start == 0 ? 0 : mix(start + p) & kSleepBit;
      set(blocks.own(p).epoch, start);
      set(blocks.own(p).waiting_for, 0);
      set(blocks.counter(p), 0);
      for (std::uint32_t i = 0; i < num_flags<Mem>(plan); ++i) {
        for (auto& word : blocks.flag(p, i).raised) set(word, start | left_over);
        set(blocks.flag(p, i).asleep, 0);
      }
    }
  }
  template <class Mem>
  WaitResult cross(const hierbar_plan& plan, void* memory, Mem& mem, std::uint32_t me) const {
    return hierbar::cross(algorithm, plan, memory, mem, me);
  }
  template <class Mem, class World>
  auto make_cross(const hierbar_plan& plan, void* memory, const Script&, World&) const {
    return [*this, &plan, memory](Mem& mem, std::uint32_t me, const Script::Crossing&) {
      return cross(plan, memory, mem, me) == WaitResult::kReleased;
    };
  }

 private:
  template <class Mem>
  std::uint32_t num_flags(const hierbar_plan& plan) const {
    const std::size_t num_lines = size_bytes<Mem>(plan) / plan.num_slots / plan.line_bytes;
    return static_cast<std::uint32_t>(num_lines) - 2;
  }
};

}  // namespace hierbar::test
