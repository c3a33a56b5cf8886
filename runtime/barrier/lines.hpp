// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/word.hpp"
#include "plan/plan.h"

namespace hierbar {

// What a participant has in memory. What is laid out here decides how many line transfers an episode costs: a processor that
// reads a line another one has just written usually takes it over, so two that talk to each other in turn over one line pay one
// transfer a message, and over two lines, one each way, two (60 ns against 130 on a Xeon, "one line" in omp_barrier_bench).
//
//    slot s:  +---------------------- line_bytes ----------------------+
//             | arrived[0][0..1] | arrived[1][0..1] | released | asleep |   edge line: this participant and its parent
//             +--------------------------------------------------------+
//             | released | asleep | crew | everybody |                     group line: this participant and all its children,
//             |                                                        |               or its crew and, of participant 0, all
//             +--------------------------------------------------------+
//             | epoch | waiting_for |                                      own line: nobody else, except to wake the owner
//             +--------------------------------------------------------+
//             |                                                        |   host line: whatever the host keeps per participant
//             +--------------------------------------------------------+
//
// All zero is a valid start (epoch 0), so fresh zero pages need no initialisation and the first to write a page is a
// participant of the domain that uses it.

template <class Word>
struct Release {
  Word released;  // writer: the parent. Readers: one child (edge line), all children (group line).
  Word asleep;    // how many readers sleep, or are about to. Writers: the readers. Reader: the parent, after it released.
};

template <class Word>
struct EdgeLine {
  // arrived[lane][e & 1] holds episode e. A peer may be one episode ahead when its word is read, but then it has written the
  // other word; it comes back to this one only in episode e + 2, for which it needs the reader's arrival in e + 1.
  // Writer: the owner of the lane; waiters set only the sleep bit. Readers: its parent, or all other leaders.
  // Lane 1 is used by the second of two leaders, in the first one's edge line: the store that publishes its own arrival brings
  // the other's along.
  Word arrived[2][2];
  Release<Word> release;
};

// Counts those who have come. The last one sets it back to 0 before anybody can come again.
template <class Word>
struct Tally {
  Word arrived;
  Word bits;
};

template <class Word>
struct GroupLine {
  Release<Word> release;
  Tally<Word> crew;       // of the crew's lowest member. Writers: its members.
  Tally<Word> everybody;  // of participant 0. Counts crews. Writers: the last one of each.
};

template <class Word>
struct OwnLine {
  Word epoch;        // the owner's count of episodes
  Word waiting_for;  // 1 + the participant the owner sleeps for; that one reads it when it finds a sleep mark
};

// Counts the owner's next episode and returns its epoch.
// (E1) relaxed: no other participant touches the word.
template <class Mem>
Epoch begin_episode(Mem& mem, OwnLine<typename Mem::Word>& own) noexcept {
  const Epoch epoch = next_epoch(mem.load_relaxed(own.epoch));  // (E1)
  mem.store_relaxed(own.epoch, epoch);                          // (E1)
  return epoch;
}

// The storage of one barrier, addressed by slot. Does not own the memory. Shared memory may be mapped at different addresses:
// only offsets are derived from the plan.
template <class Word>
class Lines {
 public:
  Lines(void* memory, std::uint32_t line_bytes) noexcept
      : memory_(static_cast<std::byte*>(memory)), line_bytes_(line_bytes), slot_bytes_(HIERBAR_LINES_PER_SLOT * line_bytes) {
    static_assert(sizeof(EdgeLine<Word>) <= 64 && sizeof(GroupLine<Word>) <= 64, "one coherence line");
  }

  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return std::size_t{plan.num_slots} * HIERBAR_LINES_PER_SLOT * plan.line_bytes;
  }

  EdgeLine<Word>& edge(std::uint32_t slot) const noexcept { return at<EdgeLine<Word>>(slot, 0); }
  GroupLine<Word>& group(std::uint32_t slot) const noexcept { return at<GroupLine<Word>>(slot, 1); }
  OwnLine<Word>& own(std::uint32_t slot) const noexcept { return at<OwnLine<Word>>(slot, 2); }
  // plan.line_bytes long; the barrier never touches it.
  void* host(std::uint32_t slot) const noexcept { return &at<std::byte>(slot, 3); }

 private:
  template <class Line>
  Line& at(std::uint32_t slot, std::size_t line) const noexcept {
    return *reinterpret_cast<Line*>(memory_ + std::size_t{slot} * slot_bytes_ + line * line_bytes_);
  }

  std::byte* memory_;
  std::uint32_t line_bytes_;
  std::uint32_t slot_bytes_;
};

}  // namespace hierbar
