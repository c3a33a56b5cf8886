// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace hierbar::mpi {

// Which units of a segment are taken: one bit each, in shared memory, claimed in runs by any rank
// without a lock. A rank that dies while it claims leaves bits behind, which costs their memory and
// stops nobody.
//
//     words 0 .. n - 1   one bit per unit
//     word n             the ledger. Lower half: how many runs are being taken right now.
//                        Upper half: how often that number has changed, modulo 2^32
//
// A run is taken word by word, upwards, and given back if somebody turns out to have a part of it.
// Until then others see units taken that nobody will have. They must not conclude that the map is
// full, so they read the ledger:
//
//     1. search: the first run whose units are all free is taken
//     2. nothing found, and nobody was taking a run at any time of the search. Then all units that
//        it has seen taken were so when it began: the map was full
//     3. otherwise units that were in the way may be free again: wait, search again
//
// Progress. Taking a run fails only at a bit that is set for good, or is of a run being taken that
// has come further up. The one that has come furthest up fails at bits set for good only, so
// somebody always succeeds or finds the map full. Searching again without limit would wait for a
// rank that died with an entry in the ledger, so the waiter decides how long the ledger may stay as
// it is.
//
// Ordering.
//   (U1) release: what the former users did to the units happened before. Pairs with (U2).
//   (U2) acquire: a new user's zeroes come after that. Also release, after (U4): whoever sees the
//        bit by (U3) sees the entry by (U6).
//   (U3) acquire, of the bits in a search; pairs with (U2). The hint for an exchange is relaxed.
//   (U4) an entry of a run, before its first bit. Relaxed: (U2) publishes it.
//   (U5) release: the end of an entry comes after the bits, or their return. Pairs with (U6).
//   (U6) acquire, before a search: it sees what ended entries have given back. After a search it
//        is relaxed, since (U3) comes before.
//
// `Atomic` is std::atomic, or in tests one that can be stopped.
template <template <class> class Atomic>
class BasicUnitMap {
 public:
  using Word = Atomic<std::uint64_t>;

  // How many words a map of so many units has.
  static std::uint32_t num_words(std::uint32_t num_units) noexcept { return num_bit_words(num_units) + 1; }

  // `words` are num_words(num_units) words, zero in a fresh segment.
  BasicUnitMap(Word* words, std::uint32_t num_units) noexcept : words_(words), num_units_(num_units) {}

  // Takes `count` adjacent units that start at a multiple of `alignment`; first fit. Returns the
  // first, or nothing when no such run is free. Linear in the number of units.
  //
  // wait(n) is called after a search that proves nothing, the n-th in a row (from 1) in which the
  // ledger has not changed, 0 where it has. It returns whether to search again.
  template <class Wait>
  std::optional<std::uint32_t> claim(std::uint32_t count, std::uint32_t alignment, Wait&& wait) const noexcept {
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
  // Waits some ms for whoever is taking a run and makes no progress: it may have lost its cpu.
  std::optional<std::uint32_t> claim(std::uint32_t count, std::uint32_t alignment) const noexcept {
    constexpr int kPatience = 10'000;
    return claim(count, alignment, [](int num_idle) { return num_idle < kPatience && sched_yield() == 0; });
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
      taken += static_cast<std::uint32_t>(__builtin_popcountll(words_[i].load(std::memory_order_relaxed)));  // for people
    }
    return taken;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint64_t kOneChange = std::uint64_t{1} << 32;

  static std::uint32_t num_bit_words(std::uint32_t num_units) noexcept { return (num_units + 63) / 64; }
  static std::uint32_t num_being_taken(std::uint64_t ledger) noexcept { return static_cast<std::uint32_t>(ledger); }
  Word& ledger() const noexcept { return words_[num_bit_words(num_units_)]; }

  std::optional<std::uint32_t> search(std::uint32_t count, std::uint32_t alignment) const noexcept {
    for (std::uint32_t first = 0; first <= num_units_ - count;) {
      const std::uint32_t taken = last_taken(first, count);
      if (taken == kNone && take(first, count)) return first;
      if (taken == kNone) continue;  // somebody else was quicker: look at the same place again
      first = (taken / alignment + 1) * alignment;
    }
    return std::nullopt;
  }

  // The highest taken unit of a run, from where the search can go on.
  std::uint32_t last_taken(std::uint32_t first, std::uint32_t count) const noexcept {
    std::uint32_t last = kNone;
    for_each_word(first, count, [&](std::uint32_t word, std::uint64_t mask) {
      const std::uint64_t taken = words_[word].load(std::memory_order_acquire) & mask;  // (U3)
      if (taken != 0) last = word * 64 + 63 - static_cast<std::uint32_t>(__builtin_clzll(taken));
      return true;
    });
    return last;
  }

  // All units or none.
  bool take(std::uint32_t first, std::uint32_t count) const noexcept {
    ledger().fetch_add(kOneChange + 1, std::memory_order_relaxed);  // (U4)
    std::uint32_t done = 0;
    const bool complete = for_each_word(first, count, [&](std::uint32_t word, std::uint64_t mask) {
      std::uint64_t seen = words_[word].load(std::memory_order_relaxed);  // (U3)
      do {
        if ((seen & mask) != 0) return false;
      } while (!words_[word].compare_exchange_weak(seen, seen | mask, std::memory_order_acq_rel,  // (U2)
                                                   std::memory_order_relaxed));
      done += static_cast<std::uint32_t>(__builtin_popcountll(mask));
      return true;
    });
    if (!complete) release(first, done);
    ledger().fetch_add(kOneChange - 1, std::memory_order_release);  // (U5)
    return complete;
  }

  // Calls visit(word, mask) for the words that a run touches, in ascending order, until it returns
  // false.
  template <class Visit>
  static bool for_each_word(std::uint32_t first, std::uint32_t count, Visit&& visit) {
    for (std::uint32_t unit = first; unit < first + count;) {
      const std::uint32_t low = unit % 64;
      const std::uint32_t bits = first + count - unit < 64 - low ? first + count - unit : 64 - low;
      const std::uint64_t mask = (bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1) << low;
      if (!visit(unit / 64, mask)) return false;
      unit += bits;
    }
    return true;
  }

  Word* words_;
  std::uint32_t num_units_;
};

class UnitMap : public BasicUnitMap<std::atomic> {
 public:
  using BasicUnitMap::BasicUnitMap;
  static_assert(Word::is_always_lock_free, "shared between processes");
};

}  // namespace hierbar::mpi
