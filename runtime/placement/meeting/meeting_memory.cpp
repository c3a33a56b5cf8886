// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/meeting/meeting_memory.hpp"

#include <algorithm>
#include <climits>
#include <ctime>

#include "base/clock.hpp"
#include "base/futex.hpp"

namespace hierbar {
namespace {

// "hbplace1": version 1 of this layout.
constexpr std::uint64_t kMagic = 0x31'65'63'61'6C'70'62'68;
constexpr std::uint32_t kMaskWords = MeetingMemory::kMaxCpus / 64;
// The maker could not load the machine.
constexpr std::uint32_t kNoImage = UINT32_MAX;
// How often a sleeper checks whether the maker is alive, once the deadline has passed.
constexpr std::uint64_t kLook_ns = 20'000'000;

// A process in one word, so that one compare-and-swap takes a slot. 42 bits of start time are
// enough for 1,000 years of ticks, and Linux has no process numbers above 22 bits.
constexpr int kPidBits = 22;
std::uint64_t packed(const ProcessName& process) {
  return process.start_time << kPidBits |
         (static_cast<std::uint64_t>(process.pid) & ((1U << kPidBits) - 1));
}
bool lives(std::uint64_t owner) {
  return is_alive(static_cast<std::int32_t>(owner & ((1U << kPidBits) - 1)), owner >> kPidBits);
}

void write_mask(const CpuSet& cpus, std::uint64_t* words) {
  std::copy(cpus.words().begin(), cpus.words().end(), words);
}

}  // namespace

struct MeetingMemory::Header {
  std::uint64_t magic;
  std::uint64_t maker;
  // The namespace to which the process numbers here belong.
  std::uint64_t pid_namespace;
  std::uint64_t deadline_ns;
  std::uint32_t num_ranks;
  // Written by the sealer, once. Read by all. It is also the futex on which they sleep.
  std::atomic<std::uint32_t> verdict;
  // Written by each rank once, and by the maker.
  std::atomic<std::uint32_t> steps;
  // Written by the maker, before its step.
  std::atomic<std::uint32_t> image_bytes;
};

struct MeetingMemory::Slot {
  // 0: free. Written by the first process that claims the slot.
  std::atomic<std::uint64_t> owner;
  // Written by the owner, after the facts below.
  std::atomic<std::uint32_t> posted;
  std::uint32_t num_threads;
  std::uint64_t mask[kMaskWords];
  std::uint64_t pool[kMaskWords];
};

std::size_t MeetingMemory::size_bytes(std::uint32_t num_ranks) {
  static_assert(sizeof(Header) <= 128 && std::atomic<std::uint64_t>::is_always_lock_free);
  return 128 + sizeof(Slot) * num_ranks;
}

MeetingMemory::Header& MeetingMemory::header() const { return *reinterpret_cast<Header*>(memory_); }
MeetingMemory::Slot& MeetingMemory::slot(std::uint32_t rank) const {
  return reinterpret_cast<Slot*>(memory_ + 128)[rank];
}

void MeetingMemory::make(const ProcessName& maker, std::uint64_t deadline_ns) const {
  header().magic = kMagic;
  header().maker = packed(maker);
  header().pid_namespace = maker.pid_namespace;
  header().deadline_ns = deadline_ns;
  header().num_ranks = num_ranks_;
}

std::uint32_t MeetingMemory::num_ranks_in(const void* memory, std::size_t size_bytes) {
  const auto& header = *static_cast<const Header*>(memory);
  if (size_bytes < sizeof(Header) || header.magic != kMagic) return 0;
  return size_bytes >= MeetingMemory::size_bytes(header.num_ranks) ? header.num_ranks : 0;
}

bool MeetingMemory::claim(std::uint32_t rank, const ProcessName& process) const {
  // Relaxed: the word only tells who owns the slot. Nothing else is read because of it.
  std::uint64_t free = 0;
  return slot(rank).owner.compare_exchange_strong(free, packed(process), std::memory_order_relaxed);
}

void MeetingMemory::post(std::uint32_t rank, const RankFacts& facts) const {
  Slot& own = slot(rank);
  own.num_threads = facts.need.num_threads;
  write_mask(facts.need.mask, own.mask);
  write_mask(facts.pool, own.pool);
  // (P1) store-release; pairs with (P2). Publishes the facts to a rank that decides at the
  // deadline, before all steps are taken.
  own.posted.store(1, std::memory_order_release);
  step();
}

void MeetingMemory::publish_machine(std::uint32_t image_bytes) const {
  // (I1) store-release; pairs with (I2). Publishes the image to ranks that act on a deadline's
  // verdict. In a complete meeting the steps (S1) order it as well.
  header().image_bytes.store(image_bytes != 0 ? image_bytes : kNoImage, std::memory_order_release);
  step();
}

void MeetingMemory::step() const {
  // (S1) acq_rel; pairs with itself and with (S2). Publishes the facts of this step. Whoever takes
  // the last step has seen those of all others.
  if (header().steps.fetch_add(1, std::memory_order_acq_rel) == num_ranks_) seal_complete();
}

// Called by whoever has seen that all steps were taken.
void MeetingMemory::seal_complete() const {
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    if (owner_is_dead(rank)) return seal(Verdict::kDead);
  }
  seal(Verdict::kComplete);
}

void MeetingMemory::seal(Verdict verdict) const {
  std::uint32_t open = static_cast<std::uint32_t>(Verdict::kOpen);
  // (V1) release; pairs with (V2). Whoever reads the verdict sees what the sealer has seen: all
  // facts and the machine. If the exchange fails, its acquire is a (V2) itself.
  if (header().verdict.compare_exchange_strong(open, static_cast<std::uint32_t>(verdict),
                                               std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
    futex(header().verdict, FUTEX_WAKE, INT_MAX, nullptr);
  }
}

// (V2) load-acquire; pairs with (V1).
Verdict MeetingMemory::verdict() const {
  const std::uint32_t verdict = header().verdict.load(std::memory_order_acquire);
  return verdict <= static_cast<std::uint32_t>(Verdict::kDead) ? static_cast<Verdict>(verdict)
                                                               : Verdict::kNobody;
}

bool MeetingMemory::is_overdue(std::uint64_t now_ns) const {
  const std::uint64_t deadline_ns = header().deadline_ns;
  if (now_ns < deadline_ns) return deadline_ns - now_ns > kMaxPatience_ns;
  // Relaxed: this only asks whether the maker's step is still missing. The image is read after the
  // verdict.
  const bool loads =
      header().image_bytes.load(std::memory_order_relaxed) == 0 && lives(header().maker);
  return !loads || now_ns - deadline_ns >= kPatience_ns;
}

Verdict MeetingMemory::wait(
    const std::function<Verdict(const std::vector<RankFacts>&)>& late) const {
  while (verdict() == Verdict::kOpen) {
    const auto now_ns = static_cast<std::uint64_t>(monotonic_ns());
    if (is_overdue(now_ns)) {
      // (S2) load-acquire; pairs with (S1). All steps were taken, and whoever took the last one did
      // not live to seal.
      if (header().steps.load(std::memory_order_acquire) > num_ranks_) {
        seal_complete();
      } else {
        seal(late(facts()));
      }
      break;
    }
    const std::uint64_t deadline_ns = header().deadline_ns;
    const std::uint64_t sleep_ns =
        now_ns < deadline_ns ? std::min(deadline_ns - now_ns, kMaxPatience_ns) : kLook_ns;
    const timespec limit{static_cast<time_t>(sleep_ns / 1'000'000'000),
                         static_cast<long>(sleep_ns % 1'000'000'000)};
    futex(header().verdict, FUTEX_WAIT, static_cast<std::uint32_t>(Verdict::kOpen), &limit);
  }
  return verdict();
}

std::vector<RankFacts> MeetingMemory::facts() const {
  std::vector<RankFacts> all;
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    const Slot& other = slot(rank);
    if (other.posted.load(std::memory_order_acquire) == 0) continue;  // (P2) pairs with (P1)
    all.push_back(
        {{CpuSet(other.mask, kMaskWords), other.num_threads}, CpuSet(other.pool, kMaskWords)});
  }
  return all;
}

bool MeetingMemory::has_all_facts() const {
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    // Relaxed: the verdict has made the facts visible already.
    if (slot(rank).posted.load(std::memory_order_relaxed) == 0) return false;
  }
  return true;
}

// (I2) load-acquire; pairs with (I1).
std::uint32_t MeetingMemory::image_bytes() const {
  const std::uint32_t bytes = header().image_bytes.load(std::memory_order_acquire);
  return bytes == kNoImage ? 0 : bytes;
}

// Relaxed, as in claim().
bool MeetingMemory::owner_is_dead(std::uint32_t rank) const {
  const std::uint64_t owner = slot(rank).owner.load(std::memory_order_relaxed);
  return owner != 0 && !lives(owner);
}

bool MeetingMemory::is_stale() const {
  const auto now_ns = static_cast<std::uint64_t>(monotonic_ns());
  const std::uint64_t deadline_ns = header().deadline_ns;
  if (now_ns > deadline_ns ? now_ns - deadline_ns > 2 * kPatience_ns
                           : deadline_ns - now_ns > kMaxPatience_ns)
    return true;
  // Whether processes of another pid namespace are alive cannot be seen from here.
  if (header().pid_namespace != own_process().pid_namespace || lives(header().maker)) return false;
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    // Relaxed, as in claim().
    const std::uint64_t owner = slot(rank).owner.load(std::memory_order_relaxed);
    if (owner != 0 && lives(owner)) return false;
  }
  return true;
}

}  // namespace hierbar
