// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "barrier/barrier.hpp"
#include "bench/common/random.hpp"
#include "tests/barrier/oracle.hpp"

namespace hierbar::test {

// Makes the engine's lines look as if everybody had just completed `start`. set(word, value) is
// called once for every word of every participant, in the order in which the lines declare them.
template <class Word, class Set>
void start_lines(const hierbar_plan& plan, void* memory, Epoch start, Set&& set) {
  const BarrierMemory<Word> lines(memory, plan.line_bytes);
  const auto parity = start >> kEpochShift & 1;
  for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
    // A payload from long ago. A fresh barrier is all zero.
    const std::uint32_t left_over = static_cast<std::uint32_t>(mix(start + p)) & kPayloadMask;
    const WordValue last = start == 0 ? 0 : make_word(start, left_over);
    const WordValue last_but_one = start == 0 ? 0 : make_word(start - kEpochOne, left_over);
    EdgeLine<Word>& edge = lines.edge(plan.nodes[p].slot);
    for (auto& lane : edge.arrived) {
      set(lane[0], parity == 0 ? last : last_but_one);
      set(lane[1], parity == 1 ? last : last_but_one);
    }
    GroupLine<Word>& group = lines.group(plan.nodes[p].slot);
    for (Release<Word>* release : {&edge.release, &group.release}) {
      set(release->released, last);
      set(release->asleep, 0);
    }
    for (Tally<Word>* tally : {&group.crew, &group.everybody}) {
      set(tally->arrived, 0);
      set(tally->bits, 0);
    }
    set(group.arrival_sleepers, 0);
    OwnLine<Word>& own = lines.own(plan.nodes[p].slot);
    set(own.epoch, start);
    set(own.waiting_for, 0);
  }
}

// The engine's part of a script: whole crossings and split ones, with payload bits.
template <class Mem, class World>
class EngineCross {
 public:
  EngineCross(const hierbar_plan& plan, void* lines, const Script& script, World& world,
              Fencing fencing = Fencing::kByWriters)
      : barrier_(plan, lines, fencing), script_(script), world_(world) {}

  bool operator()(Mem& mem, std::uint32_t me, const Script::Crossing& crossing) const {
    if (crossing.split) return gather(mem, me, crossing) && release(mem, me, crossing);
    const auto [result, bits] = barrier_.cross(mem, me, crossing.bits[me]);
    if (result == WaitResult::kAborted) return false;
    expect_equal(world_, me, "the OR of all bits", bits, crossing.all_bits);
    return true;
  }

 private:
  bool gather(Mem& mem, std::uint32_t me, const Script::Crossing& crossing) const {
    const std::uint32_t own = script_.partial_cell(me);
    world_.write(me, own, crossing.values[me]);
    const auto combine = [&](std::uint32_t child) {
      const std::uint64_t right = world_.read(me, script_.partial_cell(child));
      world_.write(me, own, Script::combine(world_.read(me, own), right));
    };
    const auto [result, bits] = barrier_.gather(mem, me, crossing.bits[me], combine);
    if (result == WaitResult::kAborted) return false;
    expect_equal(world_, me, "the OR of the subtree's bits", bits, crossing.subtree_bits[me]);
    if (me != 0) return true;
    expect_equal(world_, me, "the combined value", world_.read(me, own), crossing.combined);
    world_.write(me, script_.act_cell(), crossing.combined + 1);
    return true;
  }

  bool release(Mem& mem, std::uint32_t me, const Script::Crossing& crossing) const {
    const std::uint32_t ignored = kPayloadMask;  // only participant 0's bits count
    const auto [result, bits] =
        barrier_.release(mem, me, me == 0 ? crossing.release_bits : ignored);
    if (result == WaitResult::kAborted) return false;
    expect_equal(world_, me, "the OR in the release", bits, crossing.release_bits);
    expect_equal(world_, me, "what participant 0 did", world_.read(me, script_.act_cell()),
                 crossing.combined + 1);
    return true;
  }

  const Barrier<Mem> barrier_;
  const Script& script_;
  World& world_;
};

// For the names of tests.
inline std::string suffix_of(Fencing fencing) {
  return fencing == Fencing::kByWriters ? "" : "_sleepers_fence";
}

// arrived[2][2], two releases and two tallies of two, arrival_sleepers, epoch, waiting_for
inline constexpr std::uint32_t kEngineWords = 15;  // of a participant

struct EngineSubject {
  Fencing fencing = Fencing::kByWriters;

  template <class Mem>
  std::size_t size_bytes(const hierbar_plan& plan) const {
    return Barrier<Mem>::size_bytes(plan);
  }
  template <class Mem>
  std::uint32_t words_per_participant(const hierbar_plan&) const {
    return kEngineWords;
  }
  template <class Mem, class Set>
  void start(const hierbar_plan& plan, void* memory, Epoch start, Set&& set) const {
    start_lines<typename Mem::Word>(plan, memory, start, set);
  }
  template <class Mem>
  WaitResult cross(const hierbar_plan& plan, void* memory, Mem& mem, std::uint32_t me) const {
    return Barrier<Mem>(plan, memory, fencing).cross(mem, me, 0).result;
  }
  template <class Mem, class World>
  EngineCross<Mem, World> make_cross(const hierbar_plan& plan, void* memory, const Script& script,
                                     World& world) const {
    return {plan, memory, script, world, fencing};
  }
};

}  // namespace hierbar::test
