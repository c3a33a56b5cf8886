// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/board.hpp"

#include <algorithm>
#include <climits>
#include <ctime>

#include "barrier/futex.hpp"

namespace hierbar {
namespace {

constexpr std::uint64_t kMagic = 0x31'65'63'61'6C'70'62'68;  // "hbplace1": what is laid out here, version 1
constexpr std::uint32_t kMaskWords = Board::kMaxCpus / 64;
constexpr std::uint32_t kNoImage = UINT32_MAX;  // the maker could not load the machine
// How often a sleeper looks whether the maker still lives, once the deadline has passed.
constexpr std::uint64_t kLook_ns = 20'000'000;

// A process in one word, so that a slot is taken in one go: a start time is good for 1,000 years of ticks, and Linux has no
// larger process numbers.
constexpr int kPidBits = 22;
std::uint64_t packed(const ProcessName& process) {
  return process.start_time << kPidBits | (static_cast<std::uint64_t>(process.pid) & ((1U << kPidBits) - 1));
}
bool lives(std::uint64_t owner) { return is_alive(static_cast<std::int32_t>(owner & ((1U << kPidBits) - 1)), owner >> kPidBits); }

void write_mask(const CpuSet& cpus, std::uint64_t* words) { std::copy(cpus.words().begin(), cpus.words().end(), words); }

}  // namespace

struct Board::Header {
  std::uint64_t magic;
  std::uint64_t maker;
  std::uint64_t pid_namespace;  // in which the process numbers here mean something
  std::uint64_t deadline_ns;
  std::uint32_t num_ranks;
  std::atomic<std::uint32_t> verdict;      // writer: the sealer, once. Readers: all. Also the futex that they sleep on
  std::atomic<std::uint32_t> steps;        // writers: every rank once, and the maker
  std::atomic<std::uint32_t> image_bytes;  // writer: the maker, before its step
};

struct Board::Slot {
  std::atomic<std::uint64_t> owner;   // 0: free. Writer: the first who claims it
  std::atomic<std::uint32_t> posted;  // writer: the owner, after what follows
  std::uint32_t num_threads;
  std::uint64_t mask[kMaskWords];
  std::uint64_t pool[kMaskWords];
};

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::size_t Board::size_bytes(std::uint32_t num_ranks) {
  static_assert(sizeof(Header) <= 128 && std::atomic<std::uint64_t>::is_always_lock_free);
  return 128 + sizeof(Slot) * num_ranks;
}

Board::Header& Board::header() const { return *reinterpret_cast<Header*>(memory_); }
Board::Slot& Board::slot(std::uint32_t rank) const { return reinterpret_cast<Slot*>(memory_ + 128)[rank]; }

void Board::make(const ProcessName& maker, std::uint64_t deadline_ns) const {
  header().magic = kMagic;
  header().maker = packed(maker);
  header().pid_namespace = maker.pid_namespace;
  header().deadline_ns = deadline_ns;
  header().num_ranks = num_ranks_;
}

std::uint32_t Board::num_ranks_in(const void* memory, std::size_t size_bytes) {
  const auto& header = *static_cast<const Header*>(memory);
  if (size_bytes < sizeof(Header) || header.magic != kMagic) return 0;
  return size_bytes >= Board::size_bytes(header.num_ranks) ? header.num_ranks : 0;
}

bool Board::claim(std::uint32_t rank, const ProcessName& process) const {
  // Relaxed: the word says who it is, and nothing is read because of it.
  std::uint64_t free = 0;
  return slot(rank).owner.compare_exchange_strong(free, packed(process), std::memory_order_relaxed);
}

void Board::post(std::uint32_t rank, const RankFacts& facts) const {
  Slot& own = slot(rank);
  own.num_threads = facts.need.num_threads;
  write_mask(facts.need.mask, own.mask);
  write_mask(facts.pool, own.pool);
  // (P1) release: publishes the facts to who decides at the deadline, before all steps are taken. Pairs with (P2).
  own.posted.store(1, std::memory_order_release);
  step();
}

void Board::publish_machine(std::uint32_t image_bytes) const {
  // (I1) release: publishes the image, which was written before. Pairs with (I2), in those who act on a deadline's verdict; in a
  // complete meeting the steps order it anyway.
  header().image_bytes.store(image_bytes != 0 ? image_bytes : kNoImage, std::memory_order_release);
  step();
}

void Board::step() const {
  // (S1) acquire and release: publishes this step's facts, and whoever takes the last step has seen all the others'.
  if (header().steps.fetch_add(1, std::memory_order_acq_rel) == num_ranks_) seal_complete();
}

// By whoever saw all steps taken.
void Board::seal_complete() const {
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    if (owner_is_dead(rank)) return seal(Verdict::kDead);
  }
  seal(Verdict::kComplete);
}

void Board::seal(Verdict verdict) const {
  std::uint32_t open = static_cast<std::uint32_t>(Verdict::kOpen);
  // (V1) release: what the sealer has seen, all facts and the machine, is seen by who reads the verdict. Pairs with (V2). Acquire
  // where it fails: it is then (V2) itself.
  if (header().verdict.compare_exchange_strong(open, static_cast<std::uint32_t>(verdict), std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
    futex(header().verdict, FUTEX_WAKE, INT_MAX, nullptr);
  }
}

// (V2) acquire; pairs with (V1).
Verdict Board::verdict() const {
  const std::uint32_t verdict = header().verdict.load(std::memory_order_acquire);
  return verdict <= static_cast<std::uint32_t>(Verdict::kDead) ? static_cast<Verdict>(verdict) : Verdict::kNobody;
}

bool Board::is_overdue(std::uint64_t now_ns) const {
  const std::uint64_t deadline_ns = header().deadline_ns;
  if (now_ns < deadline_ns) return deadline_ns - now_ns > kMaxPatience_ns;
  // Relaxed: whether the maker's step is still to come. What it published is read after the verdict.
  const bool loads = header().image_bytes.load(std::memory_order_relaxed) == 0 && lives(header().maker);
  return !loads || now_ns - deadline_ns >= kPatience_ns;
}

Verdict Board::wait(const std::function<Verdict(const std::vector<RankFacts>&)>& late) const {
  while (verdict() == Verdict::kOpen) {
    const std::uint64_t now_ns = monotonic_ns();
    if (is_overdue(now_ns)) {
      // (S2) acquire; pairs with (S1): all steps were taken, and who took the last one did not live to seal.
      if (header().steps.load(std::memory_order_acquire) > num_ranks_) {
        seal_complete();
      } else {
        seal(late(facts()));
      }
      break;
    }
    const std::uint64_t deadline_ns = header().deadline_ns;
    const std::uint64_t sleep_ns = now_ns < deadline_ns ? std::min(deadline_ns - now_ns, kMaxPatience_ns) : kLook_ns;
    const timespec limit{static_cast<time_t>(sleep_ns / 1'000'000'000), static_cast<long>(sleep_ns % 1'000'000'000)};
    futex(header().verdict, FUTEX_WAIT, static_cast<std::uint32_t>(Verdict::kOpen), &limit);
  }
  return verdict();
}

std::vector<RankFacts> Board::facts() const {
  std::vector<RankFacts> all;
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    const Slot& other = slot(rank);
    if (other.posted.load(std::memory_order_acquire) == 0) continue;  // (P2) acquire; pairs with (P1)
    all.push_back({{CpuSet(other.mask, kMaskWords), other.num_threads}, CpuSet(other.pool, kMaskWords)});
  }
  return all;
}

bool Board::has_all_facts() const {
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    // Relaxed: after the verdict, which has made the facts visible.
    if (slot(rank).posted.load(std::memory_order_relaxed) == 0) return false;
  }
  return true;
}

// (I2) acquire; pairs with (I1).
std::uint32_t Board::image_bytes() const {
  const std::uint32_t bytes = header().image_bytes.load(std::memory_order_acquire);
  return bytes == kNoImage ? 0 : bytes;
}

bool Board::owner_is_dead(std::uint32_t rank) const {
  const std::uint64_t owner = slot(rank).owner.load(std::memory_order_relaxed);
  return owner != 0 && !lives(owner);
}

bool Board::is_stale() const {
  const std::uint64_t now_ns = monotonic_ns();
  const std::uint64_t deadline_ns = header().deadline_ns;
  if (now_ns > deadline_ns ? now_ns - deadline_ns > 2 * kPatience_ns : deadline_ns - now_ns > kMaxPatience_ns) return true;
  // Processes of another namespace cannot be seen from here, alive or not.
  if (header().pid_namespace != own_process().pid_namespace || lives(header().maker)) return false;
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    const std::uint64_t owner = slot(rank).owner.load(std::memory_order_relaxed);
    if (owner != 0 && lives(owner)) return false;
  }
  return true;
}

}  // namespace hierbar
