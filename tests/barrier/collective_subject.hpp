// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "barrier/barrier.hpp"
#include "barrier/collectives.hpp"
#include "bench/common/random.hpp"
#include "tests/barrier/engine_subject.hpp"
#include "tests/barrier/oracle.hpp"

namespace hierbar::test {

// A fold whose result depends on every byte of every input, on their order, and on where an element
// begins. `out` may be one of the inputs.
struct HashFold {
  std::size_t element_bytes;

  void operator()(void* out, const void* const* inputs, std::uint32_t num_inputs,
                  std::size_t count) const noexcept {
    for (std::size_t at = 0; at < count * element_bytes; at += element_bytes) {
      std::uint64_t hash = num_inputs;
      for (std::uint32_t i = 0; i < num_inputs; ++i) {
        for_each_chunk([&](std::size_t begin, std::size_t bytes) {
          std::uint64_t chunk = 0;
          std::memcpy(&chunk, static_cast<const std::byte*>(inputs[i]) + at + begin, bytes);
          hash = mix(3 * hash + chunk);
        });
      }
      for_each_chunk([&](std::size_t begin, std::size_t bytes) {
        const std::uint64_t chunk = mix(hash + begin);
        std::memcpy(static_cast<std::byte*>(out) + at + begin, &chunk, bytes);
      });
    }
  }

 private:
  template <class Visit>
  void for_each_chunk(const Visit& visit) const {
    for (std::size_t begin = 0; begin < element_bytes; begin += sizeof(std::uint64_t))
      visit(begin, std::min(element_bytes - begin, sizeof(std::uint64_t)));
  }
};

// One call of all participants. It follows from a seed, so each knows what the others bring.
struct CollectiveCall {
  enum class Kind : std::uint8_t { kFold, kAllgather, kAlltoall, kReduceScatter };
  static constexpr std::uint32_t kNumKinds = 4;
  static constexpr std::size_t kGuardBytes = 16;  // behind the result, to be left alone

  std::uint64_t seed;
  std::uint32_t num_participants;
  std::size_t count;
  std::size_t element_bytes;
  bool in_place;
  Kind kind = Kind::kFold;

  bool has_part_for_each() const { return kind == Kind::kAlltoall || kind == Kind::kReduceScatter; }
  bool is_fold() const { return kind == Kind::kFold || kind == Kind::kReduceScatter; }
  // Of one participant, where each has a part of its own for one other.
  std::size_t bytes() const { return count * element_bytes; }
  std::size_t brought_bytes() const {
    return has_part_for_each() ? bytes() * num_participants : bytes();
  }
  std::size_t result_bytes() const { return is_fold() ? bytes() : bytes() * num_participants; }
  std::vector<std::byte> input(std::uint32_t participant) const {
    std::vector<std::byte> values(brought_bytes() + kGuardBytes);
    Random random(mix(seed) + participant);
    for (std::size_t i = 0; i + sizeof(std::uint64_t) <= values.size(); i += 8) {
      const std::uint64_t chunk = random.next();
      std::memcpy(&values[i], &chunk, sizeof(chunk));
    }
    return values;
  }
  std::vector<std::byte> right_result(std::uint32_t me) const {
    return is_fold() ? folded(me) : joined(me);
  }

  // One of the first kinds, by chance. What moves has to fit into `most_bytes` for all
  // participants.
  CollectiveCall with_drawn_kind(std::uint32_t num_kinds, std::size_t most_bytes) const {
    CollectiveCall call = *this;
    call.kind = static_cast<Kind>(mix(seed + 1) % num_kinds);
    if (call.kind == Kind::kFold) return call;
    const std::size_t most = most_bytes / num_participants;
    call.element_bytes = std::min(element_bytes, most);
    call.count = std::min(count, most / call.element_bytes);
    return call;
  }

 private:
  // Where what each brings for `me` begins.
  std::size_t first_for(std::uint32_t me) const { return has_part_for_each() ? me * bytes() : 0; }
  std::vector<std::byte> folded(std::uint32_t me) const {
    std::vector<std::vector<std::byte>> values;
    std::vector<const void*> inputs;
    for (std::uint32_t p = 0; p < num_participants; ++p) values.push_back(input(p));
    for (const std::vector<std::byte>& value : values) inputs.push_back(&value[first_for(me)]);
    std::vector<std::byte> result(bytes());
    HashFold{element_bytes}(result.data(), inputs.data(), num_participants, count);
    return result;
  }
  std::vector<std::byte> joined(std::uint32_t me) const {
    std::vector<std::byte> result;
    for (std::uint32_t p = 0; p < num_participants; ++p) {
      const std::vector<std::byte> all = input(p);
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first_for(me));
      result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(bytes()));
    }
    return result;
  }
};

// The part of `me` in a call. False if a wait was aborted; `what` tells what is wrong, if anything.
template <class Mem>
bool make_call(const Collectives<Mem>& collectives, Mem& mem, std::uint32_t me,
               const CollectiveCall& call, const char*& what) {
  using Kind = CollectiveCall::Kind;
  const std::vector<std::byte> in = call.input(me);
  // In place, what is brought is where the call looks for it.
  std::vector<std::byte> out(
      (call.in_place ? std::max(call.brought_bytes(), call.result_bytes()) : call.result_bytes()) +
      CollectiveCall::kGuardBytes);
  const std::size_t own = call.kind == Kind::kAllgather ? me * call.bytes() : 0;
  if (call.in_place) {
    std::copy_n(in.begin(), call.brought_bytes(), out.begin() + static_cast<std::ptrdiff_t>(own));
  }
  const std::vector<std::byte> before = out;
  const void* const from = call.in_place ? out.data() + own : in.data();
  const auto run = [&] {
    switch (call.kind) {
      case Kind::kAllgather:
        return collectives.allgather(mem, me, from, out.data(), call.bytes());
      case Kind::kAlltoall:
        return collectives.alltoall(mem, me, from, out.data(), call.bytes());
      case Kind::kReduceScatter:
        return collectives.reduce_scatter(mem, me, from, out.data(), call.count, call.element_bytes,
                                          HashFold{call.element_bytes});
      default:
        return collectives.allreduce(mem, me, from, out.data(), call.count, call.element_bytes,
                                     HashFold{call.element_bytes});
    }
  };
  if (run() == WaitResult::kAborted) return false;
  const std::vector<std::byte> right = call.right_result(me);
  if (!std::equal(right.begin(), right.end(), out.begin())) what = "the result is wrong";
  if (!std::equal(out.begin() + static_cast<std::ptrdiff_t>(right.size()), out.end(),
                  before.begin() + static_cast<std::ptrdiff_t>(right.size())))
    what = "something behind the result has changed";
  if (in != call.input(me)) what = "the input has changed";
  return true;
}

// Where the number of bytes decides how values travel, calls shall be on both sides of it.
struct CallSizes {
  std::size_t most_bytes;
  std::vector<std::size_t> element_bytes;

  CollectiveCall draw(std::uint64_t seed, std::uint32_t num_participants) const {
    Random random(seed);
    CollectiveCall call{seed, num_participants, 1, 1, random.one_in(3)};
    call.element_bytes =
        element_bytes[random.below(static_cast<std::uint32_t>(element_bytes.size()))];
    const std::size_t limits[] = {3 * call.element_bytes, 24, 128, most_bytes};
    const std::size_t most = std::min(limits[random.below(4)], most_bytes) / call.element_bytes;
    call.count = 1 + random.below(static_cast<std::uint32_t>(std::max<std::size_t>(most, 1)));
    return call;
  }
};

// Collectives in a script: a crossing is a call of one of them, or a barrier that has lines of its
// own.
template <class Mem, class World>
class CollectiveCross {
 public:
  CollectiveCross(const Collectives<Mem>& collectives, const Barrier<Mem>& barrier,
                  const CallSizes& sizes, std::uint32_t num_kinds, const Script& script,
                  World& world)
      : collectives_(collectives),
        barrier_(barrier),
        sizes_(sizes),
        num_kinds_(num_kinds),
        script_(script),
        world_(world) {}

  bool operator()(Mem& mem, std::uint32_t me, const Script::Crossing& crossing) const {
    const std::uint64_t seed = crossing.values[0];
    if (seed % 5 == 0) return barrier_.cross(mem, me, 0).result == WaitResult::kReleased;
    const CollectiveCall call = sizes_.draw(seed, script_.num_participants())
                                    .with_drawn_kind(num_kinds_, Collectives<Mem>::kMostBytes);
    const char* what = nullptr;
    if (!make_call(collectives_, mem, me, call, what)) return false;
    if (what != nullptr) {
      world_.fail(me, std::string(what) + " (" + kNames[static_cast<std::size_t>(call.kind)] +
                          " of " + std::to_string(call.count) + " elements of " +
                          std::to_string(call.element_bytes) + " bytes)");
    }
    return true;
  }

 private:
  static constexpr const char* kNames[] = {"allreduce", "allgather", "alltoall", "reduce_scatter"};

  const Collectives<Mem> collectives_;
  const Barrier<Mem> barrier_;
  const CallSizes sizes_;
  const std::uint32_t num_kinds_;
  const Script& script_;
  World& world_;
};

// A subject for both trials (oracle.hpp): Collectives, and behind its memory the lines of a barrier
// of the same participants.
struct CollectiveSubject {
  Fencing fencing = Fencing::kByWriters;
  CallSizes sizes = {640, {4, 8, 12}};
  std::uint32_t num_kinds = CollectiveCall::kNumKinds;  // of calls

  template <class Mem>
  std::size_t size_bytes(const hierbar_plan& plan) const {
    return Collectives<Mem>::size_bytes(plan) + Barrier<Mem>::size_bytes(plan);
  }
  template <class Mem>
  std::uint32_t words_per_participant(const hierbar_plan&) const {
    return 2 * kEngineWords + kNumPacketWords;
  }
  template <class Mem, class Set>
  void start(const hierbar_plan& plan, void* memory, Epoch start, Set&& set) const {
    start_lines<typename Mem::Word>(plan, memory, start, set);
    start_lines<typename Mem::Word>(plan, barrier_lines<Mem>(plan, memory), start, set);
    if (plan.num_participants == 2 && plan.num_leaders == 2 && plan.num_crews == 0)
      start_packets<typename Mem::Word>(plan, memory, start, set);
  }
  template <class Mem>
  WaitResult cross(const hierbar_plan& plan, void* memory, Mem& mem, std::uint32_t me) const {
    std::uint64_t value = me;
    return collectives<Mem>(plan, memory)
        .allreduce(mem, me, &value, &value, 1, sizeof(value), HashFold{sizeof(value)});
  }
  template <class Mem>
  Collectives<Mem> collectives(const hierbar_plan& plan, void* memory) const {
    return {plan, memory, fencing};
  }
  template <class Mem, class World>
  CollectiveCross<Mem, World> make_cross(const hierbar_plan& plan, void* memory,
                                         const Script& script, World& world) const {
    return {collectives<Mem>(plan, memory),
            Barrier<Mem>(plan, barrier_lines<Mem>(plan, memory), fencing),
            sizes,
            num_kinds,
            script,
            world};
  }

 private:
  static constexpr std::uint32_t kNumPacketWords = 16;

  template <class Word, class Set>
  static void start_packets(const hierbar_plan& plan, void* memory, Epoch start, Set& set) {
    const CollectiveMemory<Word> data(plan, memory);
    for (std::size_t i = 0; i < 2 * data.kNumPackets; ++i) {
      const bool is_last = (i < data.kNumPackets) == ((start >> kEpochShift & 1) == 0);
      for (auto& lane : data.packets()[i].lanes)
        set(lane.word, start == 0 ? 0 : make_word(is_last ? start : start - kEpochOne, 0));
    }
  }

  template <class Mem>
  static void* barrier_lines(const hierbar_plan& plan, void* memory) {
    return static_cast<std::byte*>(memory) + Collectives<Mem>::size_bytes(plan);
  }
};

}  // namespace hierbar::test
