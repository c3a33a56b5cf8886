// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "barrier/barrier.hpp"
#include "barrier/one_way.hpp"
#include "bench/common/random.hpp"
#include "tests/barrier/collective_subject.hpp"
#include "tests/barrier/engine_subject.hpp"
#include "tests/barrier/oracle.hpp"

namespace hierbar::test {

// How many operations come before a barrier, and how large they are.
struct OneWayLengths {
  std::uint32_t most_operations;
  CallSizes sizes;
};

// One-way operations in a script. They do not hold their participants together, so a crossing is
// some of them and then a barrier that has lines of its own.
template <class Mem, class World>
class OneWayCross {
 public:
  OneWayCross(const OneWay<Mem>& one_way, const Barrier<Mem>& barrier, const OneWayLengths& lengths,
              const Script& script, World& world)
      : one_way_(one_way), barrier_(barrier), lengths_(lengths), script_(script), world_(world) {}

  bool operator()(Mem& mem, std::uint32_t me, const Script::Crossing& crossing) const {
    Random random(crossing.values[0]);
    // Some scripts have one root, which runs ahead, some another one each time.
    const bool has_one_root = random.one_in(2);
    const bool only_bcasts = random.one_in(2);
    std::uint32_t root = random.below(script_.num_participants());
    for (std::uint32_t left = random.below(lengths_.most_operations + 1); left > 0; --left) {
      CollectiveCall call = lengths_.sizes.draw(random.next(), script_.num_participants());
      if (!has_one_root) root = random.below(script_.num_participants());
      const std::uint32_t kind = only_bcasts ? 0 : random.below(4);
      if (kind == kScatter) call = in_parts(call);
      if (!operate(mem, me, kind, {root, draw_bytes(random, call.bytes()), call})) return false;
    }
    return barrier_.cross(mem, me, 0).result == WaitResult::kReleased;
  }

 private:
  static constexpr std::uint32_t kScatter = 3;

  // `bytes_of_others`: what others than the root bring or have room for.
  struct Operation {
    std::uint32_t root;
    std::size_t bytes_of_others;
    const CollectiveCall& call;

    std::size_t bytes_of(std::uint32_t participant) const {
      return participant == root ? call.bytes() : bytes_of_others;
    }
  };

  // In one of four, others than the root are wrong.
  static std::size_t draw_bytes(Random& random, std::size_t bytes) {
    const std::uint32_t drawn = random.below(8);
    if (drawn > 1) return bytes;
    return drawn == 0 ? bytes / 2 : std::min(2 * bytes, OneWay<Mem>::kMostBytes);
  }

  // The same with a part for each participant, which have to fit into a slot together.
  static CollectiveCall in_parts(CollectiveCall call) {
    call.kind = CollectiveCall::Kind::kAlltoall;
    const std::size_t most = OneWay<Mem>::kMostBytes / call.num_participants / call.element_bytes;
    call.count = std::min(call.count, most);
    return call;
  }

  bool operate(Mem& mem, std::uint32_t me, std::uint32_t kind, const Operation& operation) const {
    switch (kind) {
      case 0:
        return bcast(mem, me, operation);
      case 1:
        return reduce(mem, me, operation.root, operation.call);
      case 2:
        return gather(mem, me, operation);
      default:
        return scatter(mem, me, operation);
    }
  }

  bool bcast(Mem& mem, std::uint32_t me, const Operation& operation) const {
    const auto& [root, bytes_of_others, call] = operation;
    const std::size_t own_bytes = operation.bytes_of(me);
    std::vector<std::byte> data = call.input(me);
    data.resize(std::max(data.size(), own_bytes));
    std::vector<std::byte> right = data;
    const std::vector<std::byte> brought = call.input(root);
    std::copy_n(brought.begin(), std::min(call.bytes(), own_bytes), right.begin());
    const auto bcast = one_way_.bcast(mem, me, root, data.data(), own_bytes);
    if (bcast.result == WaitResult::kAborted) return false;
    if (data != right || bcast.bytes != call.bytes()) world_.fail(me, "a bcast is wrong");
    return true;
  }

  bool reduce(Mem& mem, std::uint32_t me, std::uint32_t root, const CollectiveCall& call) const {
    const std::vector<std::byte> in = call.input(me);
    std::vector<std::byte> out(call.bytes());
    if (one_way_.reduce(mem, me, root, in.data(), out.data(), call.count, call.element_bytes,
                        HashFold{call.element_bytes}) == WaitResult::kAborted)
      return false;
    if (me == root && out != call.right_result(me)) world_.fail(me, "a reduce is wrong");
    return true;
  }

  // The root takes as many bytes of each as it brings itself.
  bool gather(Mem& mem, std::uint32_t me, const Operation& operation) const {
    const auto& [root, bytes_of_others, call] = operation;
    const std::size_t bytes = call.bytes();
    std::vector<std::byte> out(me == root ? bytes * call.num_participants : 0), right = out;
    std::size_t came = bytes;
    for (std::uint32_t p = 0; p < call.num_participants && me == root; ++p) {
      const std::size_t theirs = operation.bytes_of(p);
      std::copy_n(brought(p, operation).begin(), std::min(bytes, theirs), &right[p * bytes]);
      if (theirs != bytes) came = theirs;
    }
    const std::vector<std::byte> in = brought(me, operation);
    const bool in_place = call.in_place && me == root;
    if (in_place) std::copy_n(in.begin(), bytes, &out[me * bytes]);
    const auto gathered = one_way_.gather(mem, me, root, in_place ? &out[me * bytes] : in.data(),
                                          out.data(), operation.bytes_of(me));
    if (gathered.result == WaitResult::kAborted) return false;
    if (out != right || (me == root && gathered.bytes != came))
      world_.fail(me, "a gather is wrong");
    return true;
  }
  static std::vector<std::byte> brought(std::uint32_t participant, const Operation& operation) {
    std::vector<std::byte> in = operation.call.input(participant);
    in.resize(std::max(in.size(), operation.bytes_of(participant)));
    return in;
  }

  bool scatter(Mem& mem, std::uint32_t me, const Operation& operation) const {
    const auto& [root, bytes_of_others, call] = operation;
    const std::size_t bytes = call.bytes(), own_bytes = operation.bytes_of(me);
    const bool in_place = call.in_place && me == root;
    std::vector<std::byte> out(std::max(bytes, own_bytes)), right = out;
    const std::vector<std::byte> in = call.input(me), of_root = call.input(root);
    if (!in_place) std::copy_n(&of_root[me * bytes], std::min(bytes, own_bytes), right.begin());
    const auto scattered = one_way_.scatter(mem, me, root, me == root ? in.data() : nullptr,
                                            in_place ? nullptr : out.data(), own_bytes);
    if (scattered.result == WaitResult::kAborted) return false;
    if (out != right || scattered.bytes != bytes) world_.fail(me, "a scatter is wrong");
    return true;
  }

  const OneWay<Mem> one_way_;
  const Barrier<Mem> barrier_;
  const OneWayLengths lengths_;
  const Script& script_;
  World& world_;
};

// A subject for both trials (oracle.hpp): OneWay, and behind its memory the lines of a barrier of
// the same participants.
struct OneWaySubject {
  Fencing fencing = Fencing::kByWriters;
  OneWayLengths lengths = {12, {200, {4, 8, 12}}};

  template <class Mem>
  std::size_t size_bytes(const hierbar_plan& plan) const {
    return OneWay<Mem>::size_bytes(plan) + Barrier<Mem>::size_bytes(plan);
  }
  template <class Mem>
  std::uint32_t words_per_participant(const hierbar_plan&) const {
    using Ring = typename OneWay<Mem>::Ring;
    return 2 * kEngineWords + 1 + Ring::kSmallSlots;
  }
  template <class Mem, class Set>
  void start(const hierbar_plan& plan, void* memory, Epoch start, Set&& set) const {
    using Word = typename Mem::Word;
    start_lines<Word>(plan, memory, start, set);
    start_lines<Word>(plan, barrier_lines<Mem>(plan, memory), start, set);
    const OneWay<Mem> one_way(plan, memory, fencing);
    for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
      auto& ring = one_way.ring(p);
      set(ring.known, start);
      for (auto& slot : ring.small) set(slot.word, start);
    }
  }
  // A reduce to participant 0 and a bcast from there: all have come when it ends.
  template <class Mem>
  WaitResult cross(const hierbar_plan& plan, void* memory, Mem& mem, std::uint32_t me) const {
    const OneWay<Mem> one_way(plan, memory, fencing);
    std::uint64_t value = me;
    if (one_way.reduce(mem, me, 0, &value, &value, 1, sizeof(value), HashFold{sizeof(value)}) ==
        WaitResult::kAborted)
      return WaitResult::kAborted;
    return one_way.bcast(mem, me, 0, &value, sizeof(value)).result;
  }
  template <class Mem, class World>
  OneWayCross<Mem, World> make_cross(const hierbar_plan& plan, void* memory, const Script& script,
                                     World& world) const {
    return {OneWay<Mem>(plan, memory, fencing),
            Barrier<Mem>(plan, barrier_lines<Mem>(plan, memory), fencing), lengths, script, world};
  }

 private:
  template <class Mem>
  static void* barrier_lines(const hierbar_plan& plan, void* memory) {
    return static_cast<std::byte*>(memory) + OneWay<Mem>::size_bytes(plan);
  }
};

}  // namespace hierbar::test
