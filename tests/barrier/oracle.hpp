// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrier/barrier.hpp"
#include "support/random.hpp"

namespace hierbar::test {

// What happens in one run of the oracle, drawn from a seed and known to all participants beforehand, so that each can say what
// it ought to see. A round is two crossings: between them everybody reads what everybody wrote before the first.
class Script {
 public:
  Script(const hierbar_plan& plan, std::uint64_t seed, std::uint32_t num_rounds)
      : num_participants_(plan.num_participants), num_rounds_(num_rounds) {
    Random random(seed);
    start_ = draw_start(random);
    for (std::uint32_t i = 0; i < num_crossings(); ++i) crossings_.push_back(draw_crossing(plan, random));
  }

  struct Crossing {
    bool split;                               // gather and release instead of cross
    std::uint32_t all_bits;                   // the OR of bits
    std::uint32_t release_bits;               // split: what participant 0 releases with
    std::vector<std::uint64_t> values;        // by participant: what it writes before
    std::vector<std::uint32_t> bits;          // by participant: its payload
    std::vector<std::uint32_t> subtree_bits;  // by participant, split: the OR of its subtree; all_bits for participant 0
    std::uint64_t combined;                   // split: what participant 0 gets from combining all values
  };

  std::uint32_t num_rounds() const { return num_rounds_; }
  std::uint32_t num_crossings() const { return 2 * num_rounds_; }
  const Crossing& crossing(std::uint32_t index) const { return crossings_[index]; }
  // The epoch that has just been completed when the run begins.
  Epoch start() const { return start_; }

  // Neither commutative nor associative: any other order gives another result.
  static std::uint64_t combine(std::uint64_t left, std::uint64_t right) { return mix(3 * left + right); }

  // Plain cells: one value per participant, one partial result per participant, one for what participant 0 does between
  // gather and release.
  static std::uint32_t num_cells(std::uint32_t num_participants) { return 2 * num_participants + 1; }
  static std::uint32_t value_cell(std::uint32_t participant) { return participant; }
  std::uint32_t partial_cell(std::uint32_t participant) const { return num_participants_ + participant; }
  std::uint32_t act_cell() const { return 2 * num_participants_; }

 private:
  // A fresh barrier, or one whose epoch is about to wrap around, to cross the sign boundary of the comparison, or anywhere.
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
      // Few of them raise bits, so that a bit that is lost is not hidden behind another's.
      crossing.bits.push_back(random.one_in(num_participants_) ? random.below(kPayloadMask + 1) : 0);
      crossing.all_bits |= crossing.bits.back();
    }
    if (crossing.split) expect_gathered(plan, crossing);
    return crossing;
  }

  // Children have higher numbers than their parents, so every child is complete when its parent's turn comes.
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
    for (std::uint32_t i = 1; i < plan.num_leaders; ++i) partial[0] = combine(partial[0], partial[plan.leaders[i]]);
    crossing.subtree_bits[0] = crossing.all_bits;
    crossing.combined = partial[0];
  }

  std::uint32_t num_participants_;
  std::uint32_t num_rounds_;
  Epoch start_ = 0;
  std::vector<Crossing> crossings_;
};

// Makes a barrier's lines look as if everybody had just completed `start`. set(word, value) is called once for every word of
// every participant, in the order in which the lines declare them.
template <class Word, class Set>
void start_lines(const hierbar_plan& plan, void* memory, Epoch start, Set&& set) {
  const Lines<Word> lines(memory, plan.line_bytes);
  const auto parity = start >> kEpochShift & 1;
  for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
    const std::uint32_t left_over = static_cast<std::uint32_t>(mix(start + p)) & kPayloadMask;  // payload of long ago
    const WordValue last = start == 0 ? 0 : make_word(start, left_over);                        // a fresh barrier is all zero
    const WordValue last_but_one = start == 0 ? 0 : make_word(start - kEpochOne, left_over);
    EdgeLine<Word>& edge = lines.edge(plan.nodes[p].slot);
    for (auto& lane : edge.arrived) {
      set(lane[0], parity == 0 ? last : last_but_one);
      set(lane[1], parity == 1 ? last : last_but_one);
    }
    for (Release<Word>* release : {&edge.release, &lines.group(plan.nodes[p].slot)}) {
      set(release->released, last);
      set(release->asleep, 0);
    }
    OwnLine<Word>& own = lines.own(plan.nodes[p].slot);
    set(own.epoch, start);
    set(own.waiting_for, 0);
  }
}

// The oracle: one participant's part of a script. The same body runs over simulated and over real memory. World offers
//   write(me, cell, value), read(me, cell)   the plain data that the barrier must protect
//   fail(me, text)                           reports a wrong value; every wait is aborted from then on
template <class Mem, class World>
class Oracle {
 public:
  Oracle(const hierbar_plan& plan, void* lines, const Script& script, World& world)
      : plan_(plan), barrier_(plan, lines), script_(script), world_(world) {}

  void run(Mem& mem, std::uint32_t me) const {
    for (std::uint32_t round = 0; round < script_.num_rounds(); ++round) {
      const Script::Crossing& first = script_.crossing(2 * round);
      world_.write(me, Script::value_cell(me), first.values[me]);
      if (!cross(mem, me, first)) return;
      for (std::uint32_t p = 0; p < plan_.num_participants; ++p) {
        expect(me, "the value of a participant", world_.read(me, Script::value_cell(p)), first.values[p]);
      }
      if (!cross(mem, me, script_.crossing(2 * round + 1))) return;
    }
  }

 private:
  // Returns false when a wait was aborted.
  bool cross(Mem& mem, std::uint32_t me, const Script::Crossing& crossing) const {
    if (crossing.split) return gather(mem, me, crossing) && release(mem, me, crossing);
    const auto [result, bits] = barrier_.cross(mem, me, crossing.bits[me]);
    if (result == WaitResult::kAborted) return false;
    expect(me, "the OR of all bits", bits, crossing.all_bits);
    return true;
  }

  bool gather(Mem& mem, std::uint32_t me, const Script::Crossing& crossing) const {
    const std::uint32_t own = script_.partial_cell(me);
    world_.write(me, own, crossing.values[me]);
    const auto combine = [&](std::uint32_t child) {
      const std::uint64_t right = world_.read(me, script_.partial_cell(child));
      world_.write(me, own, Script::combine(world_.read(me, own), right));
    };
    const auto [result, bits] = barrier_.gather(mem, me, crossing.bits[me], combine);
    if (result == WaitResult::kAborted) return false;
    expect(me, "the OR of the subtree's bits", bits, crossing.subtree_bits[me]);
    if (me != 0) return true;
    expect(me, "the combined value", world_.read(me, own), crossing.combined);
    world_.write(me, script_.act_cell(), crossing.combined + 1);
    return true;
  }

  bool release(Mem& mem, std::uint32_t me, const Script::Crossing& crossing) const {
    const std::uint32_t ignored = kPayloadMask;  // only participant 0's bits count
    const auto [result, bits] = barrier_.release(mem, me, me == 0 ? crossing.release_bits : ignored);
    if (result == WaitResult::kAborted) return false;
    expect(me, "the OR in the release", bits, crossing.release_bits);
    expect(me, "what participant 0 did", world_.read(me, script_.act_cell()), crossing.combined + 1);
    return true;
  }

  void expect(std::uint32_t me, const char* what, std::uint64_t seen, std::uint64_t right) const {
    if (seen == right) return;
    world_.fail(me, std::string(what) + " is " + std::to_string(seen) + ", should be " + std::to_string(right));
  }

  const hierbar_plan& plan_;
  const Barrier<Mem> barrier_;
  const Script& script_;
  World& world_;
};

}  // namespace hierbar::test
