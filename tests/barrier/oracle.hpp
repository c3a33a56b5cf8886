// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrier/awaited_word.hpp"
#include "bench/common/random.hpp"
#include "plan/plan.h"

namespace hierbar::test {

// What happens in one run of the oracle. It is drawn from a seed, and all participants know it
// beforehand, so each can check what it sees. A round is two crossings: between them everybody
// reads what everybody wrote before the first.
class Script {
 public:
  Script(const hierbar_plan& plan, std::uint64_t seed, std::uint32_t num_rounds)
      : num_participants_(plan.num_participants), num_rounds_(num_rounds) {
    Random random(seed);
    start_ = draw_start(random);
    for (std::uint32_t i = 0; i < num_crossings(); ++i)
      crossings_.push_back(draw_crossing(plan, random));
  }

  struct Crossing {
    bool split;                               // gather and release in place of cross
    std::uint32_t all_bits;                   // the OR of bits
    std::uint32_t release_bits;               // split: the bits of participant 0's release
    std::vector<std::uint64_t> values;        // by participant: what it writes before
    std::vector<std::uint32_t> bits;          // by participant: its payload
    std::vector<std::uint32_t> subtree_bits;  // split, by participant: the OR of its subtree
    std::uint64_t combined;                   // split: all values, as participant 0 combines them
  };

  std::uint32_t num_participants() const { return num_participants_; }
  std::uint32_t num_rounds() const { return num_rounds_; }
  std::uint32_t num_crossings() const { return 2 * num_rounds_; }
  const Crossing& crossing(std::uint32_t index) const { return crossings_[index]; }
  // The epoch that has just been completed when the run begins.
  Epoch start() const { return start_; }

  // Neither commutative nor associative: another order gives another result.
  static std::uint64_t combine(std::uint64_t left, std::uint64_t right) {
    return mix(3 * left + right);
  }

  // Plain cells: a value and a partial result for each participant, and one cell for what
  // participant 0 does between gather and release.
  static std::uint32_t num_cells(std::uint32_t num_participants) {
    return 2 * num_participants + 1;
  }
  static std::uint32_t value_cell(std::uint32_t participant) { return participant; }
  std::uint32_t partial_cell(std::uint32_t participant) const {
    return num_participants_ + participant;
  }
  std::uint32_t act_cell() const { return 2 * num_participants_; }

 private:
  // A fresh barrier; or one whose epoch will soon wrap around, or cross the sign boundary of the
  // comparison; or any epoch.
  Epoch draw_start(Random& random) const {
    const Epoch before = kEpochOne * random.below(num_crossings() + 2);
    switch (random.below(4)) {
      case 0:
        return 0;
      case 1:
        return Epoch{0} - before;
      case 2:
        return (Epoch{1} << 63) - before;
      default:
        return epoch_of(random.next());
    }
  }

  Crossing draw_crossing(const hierbar_plan& plan, Random& random) const {
    Crossing crossing{random.one_in(2), 0, random.below(kPayloadMask + 1), {}, {}, {}, 0};
    for (std::uint32_t p = 0; p < num_participants_; ++p) {
      crossing.values.push_back(random.next());
      // Few of them raise bits, so that another's bit does not hide one that is lost.
      crossing.bits.push_back(random.one_in(num_participants_) ? random.below(kPayloadMask + 1)
                                                               : 0);
      crossing.all_bits |= crossing.bits.back();
    }
    if (crossing.split) expect_gathered(plan, crossing);
    return crossing;
  }

  // Children have higher numbers than their parents, so each child is complete before its parent.
  // Participant 0 gets the bits of all.
  static void expect_gathered(const hierbar_plan& plan, Crossing& crossing) {
    crossing.subtree_bits = crossing.bits;
    std::vector<std::uint64_t> partial = crossing.values;
    for (std::uint32_t p = plan.num_participants; p-- > 0;) {
      const hierbar_plan_node& node = plan.nodes[p];
      for (std::uint32_t i = 0; i < node.num_children; ++i) {
        const std::uint32_t child = plan.children[node.first_child + i];
        crossing.subtree_bits[p] |= crossing.subtree_bits[child];
        partial[p] = combine(partial[p], partial[child]);
      }
    }
    for (std::uint32_t i = 1; i < plan.num_leaders; ++i)
      partial[0] = combine(partial[0], partial[plan.leaders[i]]);
    crossing.subtree_bits[0] = crossing.all_bits;
    crossing.combined = partial[0];
  }

  std::uint32_t num_participants_;
  std::uint32_t num_rounds_;
  Epoch start_ = 0;
  std::vector<Crossing> crossings_;
};

template <class World>
void expect_equal(World& world, std::uint32_t me, const char* what, std::uint64_t seen,
                  std::uint64_t right) {
  if (seen == right) return;
  world.fail(me, std::string(what) + " is " + std::to_string(seen) + ", should be " +
                     std::to_string(right));
}

// The oracle: one participant's part of a script. The same body runs over simulated and over real
// memory, for every barrier. World offers
//   write(me, cell, value), read(me, cell)   the plain data that the barrier must protect
//   fail(me, text)                           reports a wrong value and aborts every later wait
// Cross offers
//   cross(mem, me, script crossing)          false if a wait was aborted
//
// A Subject is the barrier under test: EngineSubject, BaselineSubject. Both trials, on simulated
// memory and with threads, call its
//   size_bytes<Mem>(plan), words_per_participant<Mem>(plan)
//   start<Mem>(plan, memory, epoch, set)   makes the memory look as if all had just completed
//                                          `epoch`: calls set(word, value) once for every word, in
//                                          an order that depends only on the plan
//   cross(plan, memory, mem, me)           one episode, without a script
//   make_cross<Mem>(plan, memory, script, world)
template <class Mem, class World, class Cross>
class Oracle {
 public:
  Oracle(const Script& script, World& world, const Cross& cross)
      : script_(script), world_(world), cross_(cross) {}

  void run(Mem& mem, std::uint32_t me) const {
    for (std::uint32_t round = 0; round < script_.num_rounds(); ++round) {
      const Script::Crossing& first = script_.crossing(2 * round);
      world_.write(me, Script::value_cell(me), first.values[me]);
      if (!cross_(mem, me, first)) return;
      for (std::uint32_t p = 0; p < script_.num_participants(); ++p) {
        expect_equal(world_, me, "the value of a participant",
                     world_.read(me, Script::value_cell(p)), first.values[p]);
      }
      if (!cross_(mem, me, script_.crossing(2 * round + 1))) return;
    }
  }

 private:
  const Script& script_;
  World& world_;
  const Cross cross_;
};

}  // namespace hierbar::test
