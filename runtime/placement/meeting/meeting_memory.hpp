// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/process.hpp"
#include "placement/evidence/veto.hpp"

namespace hierbar {

// What one rank reports to the others.
struct RankFacts {
  RankNeed need;
  // What choose_pool() has found. Empty: only all ranks together know it.
  CpuSet pool;
};

// How a meeting of ranks ends. One word, written once.
enum class Verdict : std::uint32_t {
  // Not decided yet.
  kOpen,
  // Every rank has posted what it needs, and the machine can be read.
  kComplete,
  // Some ranks did not come in time. Those that came are alike and need shares.
  kEqualParts,
  // Some ranks did not come in time, and nobody acts.
  kNobody,
  // Two processes claim to be the same rank.
  kDuplicate,
  // A rank ended before the meeting did.
  kDead,
};

// The memory in which the ranks of one node meet. All of them map it, and each rank has a slot.
//
//     0       +-------------------------------------------------------------+
//             | Header   verdict, steps; its maker and its deadline         |
//     128     +-------------------------------------------------------------+
//             | Slot [num_ranks]   owner, facts                             |
//             +-------------------------------------------------------------+
//
// A meeting has num_ranks + 1 steps: each rank posts its facts, and the maker publishes the size of
// the machine's image, which it loads for all. Whoever takes the last step seals kComplete, or
// kDead if a rank has ended. Whoever sees the deadline pass before that seals what is known by
// then. Both seal by a compare-and-swap from kOpen. So there is one verdict, and it never changes.
// All ranks act on it, also those that come later (docs/design/placement.md#d0046).
//
// Progress. Nobody waits for a particular process without a limit. So a rank may be killed at any
// point:
// - Before its step: the deadline passes, and the verdict is made without it.
// - After the last step and before the seal: at the deadline the others see that all steps were
//   taken, and seal in its place.
// - Between the seal and the wake-up: the others wake at the deadline.
// - After its step: its facts are complete, because the step publishes them. The sealer checks that
//   all ranks are alive, so that a killed job is not taken for a present one.
//
// Memory ordering. Everything that is read after a complete verdict was written before some step
// (S1). The steps are one chain of read-modify-writes, and the sealer did the last one. (V1)
// publishes what the sealer saw to those who read the verdict (V2). A verdict at the deadline
// relies on (P1) and (P2) for the facts, and on (I1) and (I2) for the image.
class MeetingMemory {
 public:
  // Masks have cpus below this number. Linux has at most 8192 cpus.
  static constexpr std::uint32_t kMaxCpus = 8192;
  // The longest time until a deadline. A later deadline is damaged memory, for which nobody waits.
  static constexpr std::uint64_t kMaxPatience_ns = 120'000'000'000;
  // How long after the deadline the maker may still load the machine. Without it every rank would
  // have to load it.
  static constexpr std::uint64_t kPatience_ns = 10'000'000'000;

  // Uses the memory, of size_bytes(num_ranks), as a board. The memory must be zero or a board
  // already.
  MeetingMemory(void* memory, std::uint32_t num_ranks)
      : memory_(static_cast<std::byte*>(memory)), num_ranks_(num_ranks) {}
  static std::size_t size_bytes(std::uint32_t num_ranks);

  // Fills in the header. Must be called before anybody else sees the memory. The deadline is on the
  // monotonic clock and at most kMaxPatience_ns away.
  void make(const ProcessName& maker, std::uint64_t deadline_ns) const;
  // The number of ranks of the board in this memory; 0 if it holds no board of this version.
  static std::uint32_t num_ranks_in(const void* memory, std::size_t size_bytes);

  // Takes the slot. Returns false if another process has it.
  bool claim(std::uint32_t rank, const ProcessName& process) const;
  // Posts what a rank is and needs. Called once, by the owner of the slot. The cpus must be below
  // kMaxCpus.
  void post(std::uint32_t rank, const RankFacts& facts) const;
  // The maker's step: the machine can be read, in an image of image_bytes. 0: it could not be
  // loaded.
  void publish_machine(std::uint32_t image_bytes) const;

  // Seals the verdict, if nobody has sealed one.
  void seal(Verdict verdict) const;
  // Returns kNobody where damaged memory holds no valid value.
  Verdict verdict() const;
  // Whether the facts of all ranks were posted, as kComplete promises. Damaged memory may hold
  // kComplete without them.
  bool has_all_facts() const;
  // Sleeps until there is a verdict. At the deadline it calls `late` with the facts posted so far,
  // and seals what `late` returns. While the maker is alive and still loads the machine, it does so
  // only kPatience_ns after the deadline.
  Verdict wait(const std::function<Verdict(const std::vector<RankFacts>&)>& late) const;

  // The facts of those that have posted them, by rank.
  std::vector<RankFacts> facts() const;
  // For use after the verdict. 0: the machine has not been loaded.
  std::uint32_t image_bytes() const;
  std::uint32_t num_ranks() const { return num_ranks_; }

  // Whether this is the memory of a job that was killed: the meeting is long over, or all who took
  // part have ended. A deadline that cannot be valid counts as well.
  bool is_stale() const;
  // Whether the slot has an owner and that owner has ended.
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

}  // namespace hierbar
