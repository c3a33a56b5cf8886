// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "barrier/awaited_word.hpp"
#include "barrier/barrier_memory.hpp"
#include "plan/plan.h"

namespace hierbar {

// The memory of collectives: the lines of a barrier, and from the next page on a slot of data for
// each participant, of whole pages. Processes may map it at different addresses, so all positions
// are offsets.
inline constexpr std::size_t kPageBytes = 4096;

constexpr std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

template <class Word>
std::size_t offset_of_slots(const hierbar_plan& plan) noexcept {
  return whole_pages(BarrierMemory<Word>::size_bytes(plan));
}

// A run of bytes in the memory.
struct MemoryPart {
  std::size_t offset;
  std::size_t bytes;
};

// What belongs to one participant.
template <class Word>
std::array<MemoryPart, 2> parts_of_participant(const hierbar_plan& plan, std::uint32_t me,
                                               std::size_t slot_bytes) noexcept {
  const std::size_t slot = plan.nodes[me].slot;
  const std::size_t line_slot_bytes = std::size_t{HIERBAR_LINES_PER_SLOT} * plan.line_bytes;
  return {{{slot * line_slot_bytes, line_slot_bytes},
           {offset_of_slots<Word>(plan) + slot * slot_bytes, slot_bytes}}};
}

// The line of two participants: each has a lane of data and a word. One line transfer brings the
// peer's data and the word that says that they are there. The lanes are halves of the line, so a
// vector instruction never touches both.
template <class Word>
struct alignas(64) Packet {
  static constexpr std::size_t kDataBytes = 24;

  // Writer: the owner. Reader: the peer.
  struct Lane {
    std::byte data[kDataBytes];
    Word word;  // as EdgeLine::arrived
  };
  Lane lanes[2];
};

// The slots of Collectives (collectives.hpp).
//
//    slot s:  +------------------+------------------+------------------+
//             | region 0         | region 1         | result           |
//             +------------------+------------------+------------------+
//
//    region 0, 1  Used in even and in odd episodes, for what the participant brings: with children,
//                 for what its subtree brings. Writer: the owner. Readers: its parent, or all
//                 others.
//    result       What the parent gives to its children. Writer: the parent. Readers: its children.
//                 With crews that of participant 0 is the result of all. Writer: the last one to
//                 arrive. Readers: all.
//    packets      They lie in the result of the first of two leaders without children, where nobody
//                 else needs it: four for even episodes, then four for odd ones. A word stays a
//                 word for ever: no other data come to a place where a word is.
template <class Word>
class CollectiveMemory {
 public:
  static constexpr std::size_t kRegionBytes = kPageBytes;
  static constexpr std::size_t kSlotBytes = 3 * kRegionBytes;
  static constexpr std::size_t kNumPackets = 4;  // of an episode

  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return offset_of_slots<Word>(plan) + plan.num_slots * kSlotBytes;
  }

  // `memory` has size_bytes() bytes. Its alignment is that of the barrier's lines.
  CollectiveMemory(const hierbar_plan& plan, void* memory) noexcept
      : nodes_(plan.nodes), slots_(static_cast<std::byte*>(memory) + offset_of_slots<Word>(plan)) {}

  std::byte* region(std::uint32_t participant, Epoch epoch) const noexcept {
    return slot_of(participant) + (epoch >> kEpochShift & 1) * kRegionBytes;
  }
  std::byte* result(std::uint32_t participant) const noexcept {
    return slot_of(participant) + 2 * kRegionBytes;
  }
  // Those of even episodes.
  Packet<Word>* packets() const noexcept {
    static_assert(sizeof(Packet<Word>) == 64, "one coherence line");
    return reinterpret_cast<Packet<Word>*>(result(0));
  }

 private:
  std::byte* slot_of(std::uint32_t participant) const noexcept {
    return slots_ + nodes_[participant].slot * kSlotBytes;
  }

  const hierbar_plan_node* nodes_;
  std::byte* slots_;
};

// Participants of a collective with a fold.
inline constexpr std::uint32_t kMostFoldInputs = 512;

// Calls visit(inputs), where `inputs` is an array for the inputs of a fold. The long one is on the
// stack of those only who need it.
template <std::uint32_t kNumInputs, class Visit>
[[gnu::noinline]] auto with_array_of_inputs(const Visit& visit) noexcept {
  const void* inputs[kNumInputs];
  return visit(inputs);
}
template <class Visit>
auto with_fold_inputs(std::uint32_t num_inputs, const Visit& visit) noexcept {
  constexpr std::uint32_t kFew = 16;
  return num_inputs <= kFew ? with_array_of_inputs<kFew>(visit)
                            : with_array_of_inputs<kMostFoldInputs>(visit);
}

// A copy without a call where there are few bytes.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  const auto copy = [&](auto number, std::size_t at) {
    __builtin_memcpy(&number, from + at, sizeof(number));
    __builtin_memcpy(to + at, &number, sizeof(number));
  };
  if (bytes > 24) {
    std::memcpy(to, from, bytes);
  } else if (bytes >= 8) {
    copy(std::uint64_t{}, 0);
    if (bytes > 16) copy(std::uint64_t{}, 8);
    if (bytes > 8) copy(std::uint64_t{}, bytes - 8);  // some bytes a second time
  } else if (bytes >= 4) {
    copy(std::uint32_t{}, 0);
    copy(std::uint32_t{}, bytes - 4);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

// The fold of what combines nothing: the inputs, one behind the other. An input may lie where it
// goes to.
struct Join {
  std::size_t bytes;  // of an input

  void operator()(void* out, const void* const* inputs, std::uint32_t num_inputs,
                  std::size_t) const noexcept {
    auto* to = static_cast<std::byte*>(out);
    for (std::uint32_t i = 0; i < num_inputs; ++i, to += bytes) {
      if (inputs[i] != to) copy_bytes(to, static_cast<const std::byte*>(inputs[i]), bytes);
    }
  }
};

}  // namespace hierbar
