// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "placement/process_name.hpp"
#include "placement/veto.hpp"

namespace hierbar {

// What one rank tells the others.
struct RankFacts {
  RankNeed need;
  CpuSet pool;  // what choose_pool() found; empty: only all ranks together know
};

// How a meeting of ranks ends. One word, written once.
enum class Verdict : std::uint32_t {
  kOpen,        // not yet
  kComplete,    // every rank has said what it needs, and the machine is there to read
  kEqualParts,  // some did not come in time; those that came are alike and need it
  kNobody,      // some did not come in time, and nobody acts
  kDuplicate,   // two processes say that they are the same rank
  kDead,        // a rank has ended before the meeting did
};

// Where the ranks of one node meet: memory that all of them see, with a slot for each.
//
//     0       +-------------------------------------------------------------+
//             | Header   verdict, steps; who made it, until when it is good |
//     128     +-------------------------------------------------------------+
//             | Slot [num_ranks]   owner, facts                             |
//             +-------------------------------------------------------------+
//
// A meeting has num_ranks + 1 steps: each rank posts its facts, and the maker, who loads the machine for all, publishes how large
// the image of it is. Whoever takes the last step seals kComplete. Whoever sees the deadline pass before that seals what is known
// by then. In both cases by compare-and-swap from kOpen, so there is one verdict, and it never changes: all ranks, and those that
// come later, act on the same.
//
// Nobody ever waits for one particular process without a limit, so a rank may be killed at any point:
//   - before its step: the deadline passes, and the verdict is made without it;
//   - after the last step and before the seal: at the deadline the others find all steps taken and seal for it;
//   - between the seal and the wake-up: the others wake by themselves at the deadline;
//   - after its step: its facts are complete, because the step publishes them. The sealer looks whether all are alive, so that a
//     killed job is not taken for a present one.
//
// Ordering: everything that is read after the verdict was written before some step (S1), and the steps are one chain of
// read-modify-writes, of which the sealer did the last; (V1) publishes what it saw to those who read the verdict (V2).
class Board {
 public:
  // Masks reach so far; Linux stops at 8192 cpus.
  static constexpr std::uint32_t kMaxCpus = 8192;
  // How far away a deadline may be. One that is farther is damaged memory, for which nobody waits.
  static constexpr std::uint64_t kMaxPatience_ns = 120'000'000'000;
  // How long the maker may take over the machine after the deadline, when everybody would else load it himself.
  static constexpr std::uint64_t kPatience_ns = 10'000'000'000;

  // Sees a board in memory of size_bytes(num_ranks), which is zero or was a board before.
  Board(void* memory, std::uint32_t num_ranks) : memory_(static_cast<std::byte*>(memory)), num_ranks_(num_ranks) {}
  static std::size_t size_bytes(std::uint32_t num_ranks);

  // Fills in the header, before anybody else sees the memory. The deadline is on the monotonic clock, at most kMaxPatience_ns
  // away.
  void make(const ProcessName& maker, std::uint64_t deadline_ns) const;
  // For how many ranks a board of this version is in the memory; 0: there is none.
  static std::uint32_t num_ranks_in(const void* memory, std::size_t size_bytes);

  // Takes the slot. False: another process has it.
  bool claim(std::uint32_t rank, const ProcessName& process) const;
  // Says what a rank is and needs; once, by the owner of the slot. The cpus must be below kMaxCpus.
  void post(std::uint32_t rank, const RankFacts& facts) const;
  // The maker's step: the machine is to be read, image_bytes of it; 0: it could not be loaded.
  void publish_machine(std::uint32_t image_bytes) const;

  // Seals, if nobody has.
  void seal(Verdict verdict) const;
  Verdict verdict() const;  // kNobody where damaged memory says something else
  // Whether all ranks' facts are there, as kComplete promises. Damaged memory may say so without them.
  bool has_all_facts() const;
  // Sleeps until there is a verdict. Past the deadline, or past kPatience_ns more while the living maker still loads the machine,
  // seals what `late` makes of the facts posted so far.
  Verdict wait(const std::function<Verdict(const std::vector<RankFacts>&)>& late) const;

  // After the verdict.
  std::vector<RankFacts> facts() const;  // of those who have posted, by rank
  std::uint32_t image_bytes() const;     // 0: the machine has not been loaded
  std::uint32_t num_ranks() const { return num_ranks_; }

  // Whether the meeting is long over, or all who took part have ended: the memory of a job that was killed. Also of a deadline
  // that cannot be.
  bool is_stale() const;
  // Whether the slot's owner has ended.
  bool owner_is_dead(std::uint32_t rank) const;

 private:
  struct Header;
  struct Slot;
  Header& header() const;
  Slot& slot(std::uint32_t rank) const;
  void step() const;
  void seal_complete() const;
  bool is_overdue(std::uint64_t now_ns) const;

  std::byte* memory_;
  std::uint32_t num_ranks_;
};

std::uint64_t monotonic_ns();

}  // namespace hierbar
