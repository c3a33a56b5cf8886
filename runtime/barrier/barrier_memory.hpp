// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "plan/plan.h"

namespace hierbar {

// The memory of a participant: one slot of four lines. The layout decides how many line transfers
// an episode costs. A processor that reads a line which another one has just written usually takes
// the line over. So two participants that write to each other in turn need one transfer for each
// message if they share one line. With a line for each direction they need two
// (docs/design/engine.md#d0001).
//
//    slot s:  +---------------------- line_bytes ----------------------+
//             | arrived[0][0..1] | arrived[1][0..1] | released | asleep |  edge line
//             +--------------------------------------------------------+
//             | released | asleep | crew | everybody | arrival_sleepers |  group line
//             |                                                        |
//             +--------------------------------------------------------+
//             | epoch | waiting_for |                                      own line
//             +--------------------------------------------------------+
//             |                                                        |   host line
//             +--------------------------------------------------------+
//
//    edge line   used by this participant and its parent; with crews, that of participant 0 by all
//    group line  used by this participant and all its children; with crews, by the crew, and that
//                of participant 0 by all; written by others who sleep for this participant
//    own line    used by this participant; others read it only to wake its owner
//    host line   what the host keeps for each participant
//
// All zero is a valid start (epoch 0), so fresh zero pages need no initialisation. The first to
// write to a page is then a participant of the domain that uses the page.

template <class Word>
struct Release {
  // Writer: the parent. Readers: one child (edge line), or all children (group line). With crews
  // only participant 0's edge line is used: the last to arrive writes it, and all others read it.
  Word released;
  // How many readers sleep or are about to. Writers: the readers. Reader: the parent, after it has
  // released them.
  Word asleep;
};

template <class Word>
struct EdgeLine {
  // arrived[lane][e & 1] holds the arrival in episode e. A peer may be one episode ahead when its
  // word is read, but then it has written the other word. It writes this one again only in episode
  // e + 2, for which it needs the reader's arrival in e + 1 (docs/design/engine.md#d0005).
  //
  // Writer: the owner of the lane; waiters set only the sleep bit. Readers: its parent, or all
  // other leaders.
  //
  // Lane 1 belongs to the second of two leaders; it is used in the first one's edge line. The
  // write that publishes the own arrival then also brings the other's
  // (docs/design/engine.md#d0001).
  Word arrived[2][2];
  Release<Word> release;
};

// Counts the participants that have arrived. The last one sets it back to 0 before any of them can
// arrive in the next episode.
template <class Word>
struct Tally {
  Word arrived;
  Word bits;
};

template <class Word>
struct GroupLine {
  Release<Word> release;
  // Used in the line of a crew's lowest member. Writers: the members of the crew.
  Tally<Word> crew;
  // Used in the line of participant 0; counts crews. Writers: the last member of each crew.
  Tally<Word> everybody;
  // How many sleep for the owner's arrival, or are about to, where sleepers fence (Fencing).
  // Writers: these. Reader: the owner, after it has arrived.
  Word arrival_sleepers;
};

template <class Word>
struct OwnLine {
  Word epoch;  // the owner's count of episodes
  // 1 + the participant for which the owner sleeps. That one reads it when it finds a sleep bit or
  // a count of sleepers.
  Word waiting_for;
};

// Counts the owner's next episode and returns its epoch.
// (E1) Relaxed: no other participant uses the word.
template <class Mem>
Epoch begin_episode(Mem& mem, OwnLine<typename Mem::Word>& own) noexcept {
  const Epoch epoch = next_epoch(mem.load_relaxed(own.epoch));  // (E1)
  mem.store_relaxed(own.epoch, epoch);                          // (E1)
  return epoch;
}

// The memory of one barrier, addressed by slot. It does not own the memory. Processes may map
// shared memory at different addresses, so all positions are offsets that follow from the plan.
template <class Word>
class BarrierMemory {
 public:
  // `memory` has size_bytes() bytes and is aligned to `line_bytes`.
  BarrierMemory(void* memory, std::uint32_t line_bytes) noexcept
      : memory_(static_cast<std::byte*>(memory)),
        line_bytes_(line_bytes),
        slot_bytes_(HIERBAR_LINES_PER_SLOT * line_bytes) {
    static_assert(sizeof(EdgeLine<Word>) <= 64 && sizeof(GroupLine<Word>) <= 64,
                  "one coherence line");
  }

  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return std::size_t{plan.num_slots} * HIERBAR_LINES_PER_SLOT * plan.line_bytes;
  }

  EdgeLine<Word>& edge(std::uint32_t slot) const noexcept { return at<EdgeLine<Word>>(slot, 0); }
  GroupLine<Word>& group(std::uint32_t slot) const noexcept { return at<GroupLine<Word>>(slot, 1); }
  OwnLine<Word>& own(std::uint32_t slot) const noexcept { return at<OwnLine<Word>>(slot, 2); }
  // plan.line_bytes bytes. The barrier never uses them.
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
