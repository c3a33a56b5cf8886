// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace hierbar::mpi {

// The units of a segment that are taken, one bit each, in shared memory. Any rank claims runs of
// units without a lock. A rank that dies while it claims leaves bits set. That costs the memory of
// these units and stops nobody.
//
//     words 0 .. n - 1   one bit per unit
//     word n             the ledger. Lower half: how many runs are being taken right now.
//                        Upper half: how often the ledger has changed, modulo 2^32
//
// A run is taken word by word, upwards. It is given back if another rank turns out to have a part
// of it. Until then others see units taken that nobody will have. They must not conclude that the
// map is full, so they read the ledger:
//
//     1. Search: the first run whose units are all free is taken.
//     2. The search found nothing, and nobody was taking a run at any time of it. Then all units
//        that it saw taken were taken when it began: the map is full.
//     3. Otherwise units that were in the way may be free again: wait, then search again.
//
// Progress. Taking a run fails only at a bit that is set for good, or at a bit of a run being taken
// that has come further up. The run that has come furthest up fails only at bits that are set for
// good. So somebody always succeeds or finds the map full. To search again without limit would wait
// for a rank that died with an entry in the ledger. So the waiter decides for how long the ledger
// may stay unchanged.
//
// Memory ordering.
//   (U1) release, in release(): what the former users did to the units happened before. Pairs with
//        (U2).
//   (U2) acquire, in take(): what a new user does to the units comes after that. Also release,
//        after (U4): whoever sees the bit by (U3) sees the entry by (U6).
//   (U3) acquire, of the bits in a search; pairs with (U2). The value that take() reads first is
//        only a hint for its exchange, so that load is relaxed.
//   (U4) the entry of a run, before its first bit. Relaxed: (U2) publishes it.
//   (U5) release: the end of an entry comes after the bits, or after their return. Pairs with (U6).
//   (U6) acquire, before a search: it sees what ended entries have given back. After a search the
//        load is relaxed, because (U3) comes before it.
//
// `Atomic` is std::atomic, or in tests a type whose operations can be stopped.
template <template <class> class Atomic>
class BasicSegmentAllocator {
 public:
  using Word = Atomic<std::uint64_t>;

  // The number of words of a map for that many units.
  static std::uint32_t num_words(std::uint32_t num_units) noexcept {
    return num_bit_words(num_units) + 1;
  }

  // `words` are num_words(num_units) words. In a fresh segment they are zero.
  BasicSegmentAllocator(Word* words, std::uint32_t num_units) noexcept
      : words_(words), num_units_(num_units) {}

  // Takes `count` adjacent units that start at a multiple of `alignment`. First fit: the lowest
  // such run is taken. Returns its first unit, or nothing when no such run is free. Linear in the
  // number of units.
  //
  // wait(n) is called after a search that found nothing and does not prove that the map is full. n
  // is the number of such searches in a row in which the ledger has not changed, or 0 if it changed
  // in the last one. wait(n) returns whether to search again.
  template <class Wait>
  std::optional<std::uint32_t> claim(std::uint32_t count, std::uint32_t alignment,
                                     Wait&& wait) const noexcept {
    if (count == 0 || count > num_units_) return std::nullopt;
    for (int num_idle = 0; true;) {
      const std::uint64_t before = ledger().load(std::memory_order_acquire);  // (U6)
      if (const std::optional<std::uint32_t> first = search(count, alignment)) return first;
      const std::uint64_t after = ledger().load(std::memory_order_relaxed);  // (U6)
      if (before == after && num_being_taken(after) == 0) return std::nullopt;
      num_idle = before == after ? num_idle + 1 : 0;
      if (!wait(num_idle)) return std::nullopt;
    }
  }
  // The same; waits some ms while the ledger does not change, because the rank that is taking a run
  // may have lost its cpu.
  std::optional<std::uint32_t> claim(std::uint32_t count, std::uint32_t alignment) const noexcept {
    constexpr int kPatience = 10'000;
    return claim(count, alignment,
                 [](int num_idle) { return num_idle < kPatience && sched_yield() == 0; });
  }

  void release(std::uint32_t first, std::uint32_t count) const noexcept {
    for_each_word(first, count, [this](std::uint32_t word, std::uint64_t mask) {
      words_[word].fetch_and(~mask, std::memory_order_release);  // (U1)
      return true;
    });
  }

  std::uint32_t num_taken() const noexcept {
    std::uint32_t taken = 0;
    for (std::uint32_t i = 0; i < num_bit_words(num_units_); ++i) {
      // Relaxed: the number is only printed.
      taken += static_cast<std::uint32_t>(
          __builtin_popcountll(words_[i].load(std::memory_order_relaxed)));
    }
    return taken;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint64_t kOneChange = std::uint64_t{1} << 32;

  static std::uint32_t num_bit_words(std::uint32_t num_units) noexcept {
    return (num_units + 63) / 64;
  }
  static std::uint32_t num_being_taken(std::uint64_t ledger) noexcept {
    return static_cast<std::uint32_t>(ledger);
  }
  Word& ledger() const noexcept { return words_[num_bit_words(num_units_)]; }

  std::optional<std::uint32_t> search(std::uint32_t count, std::uint32_t alignment) const noexcept {
    for (std::uint32_t first = 0; first <= num_units_ - count;) {
      const std::uint32_t taken = last_taken(first, count);
      if (taken == kNone && take(first, count)) return first;
      // Another rank was quicker: search at the same place again.
      if (taken == kNone) continue;
      first = (taken / alignment + 1) * alignment;
    }
    return std::nullopt;
  }

  // The highest taken unit of a run, behind which the search can go on; kNone if there is none.
  std::uint32_t last_taken(std::uint32_t first, std::uint32_t count) const noexcept {
    std::uint32_t last = kNone;
    for_each_word(first, count, [&](std::uint32_t word, std::uint64_t mask) {
      const std::uint64_t taken = words_[word].load(std::memory_order_acquire) & mask;  // (U3)
      if (taken != 0) last = word * 64 + 63 - static_cast<std::uint32_t>(__builtin_clzll(taken));
      return true;
    });
    return last;
  }

  // Takes all units of the run or none.
  bool take(std::uint32_t first, std::uint32_t count) const noexcept {
    ledger().fetch_add(kOneChange + 1, std::memory_order_relaxed);  // (U4)
    std::uint32_t done = 0;
    const bool complete = for_each_word(first, count, [&](std::uint32_t word, std::uint64_t mask) {
      auto& bits = words_[word];
      std::uint64_t seen = bits.load(std::memory_order_relaxed);  // (U3)
      do {
        if ((seen & mask) != 0) return false;
      } while (!bits.compare_exchange_weak(seen, seen | mask, std::memory_order_acq_rel,  // (U2)
                                           std::memory_order_relaxed));
      done += static_cast<std::uint32_t>(__builtin_popcountll(mask));
      return true;
    });
    if (!complete) release(first, done);
    ledger().fetch_add(kOneChange - 1, std::memory_order_release);  // (U5)
    return complete;
  }

  // Calls visit(word, mask) for each word of a run, in ascending order, until it returns false.
  template <class Visit>
  static bool for_each_word(std::uint32_t first, std::uint32_t count, Visit&& visit) {
    for (std::uint32_t unit = first; unit < first + count;) {
      const std::uint32_t low = unit % 64;
      const std::uint32_t bits = first + count - unit < 64 - low ? first + count - unit : 64 - low;
      const std::uint64_t mask = (bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1)
                                 << low;
      if (!visit(unit / 64, mask)) return false;
      unit += bits;
    }
    return true;
  }

  Word* words_;
  std::uint32_t num_units_;
};

class SegmentAllocator : public BasicSegmentAllocator<std::atomic> {
 public:
  using BasicSegmentAllocator::BasicSegmentAllocator;
  static_assert(Word::is_always_lock_free, "shared between processes");
};

}  // namespace hierbar::mpi
