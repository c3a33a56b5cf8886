// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace hierbar::mpi {

// Which units of a segment are taken: one bit each, in shared memory, claimed in runs by any rank without a lock. A rank that
// dies while it claims leaves bits behind, which costs their memory and stops nobody.
//
// Ordering. (U1) release: everything the former users did to the units happened before. Pairs with (U2), the acquire of the
// claim, so that a new user's zeroes come after. (U3) relaxed: only a hint where to try.
class UnitMap {
 public:
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free, "shared between processes");

  static std::uint32_t num_words(std::uint32_t num_units) noexcept { return (num_units + 63) / 64; }

  // `words` are num_words(num_units) words, zero in a fresh segment.
  UnitMap(Word* words, std::uint32_t num_units) noexcept : words_(words), num_units_(num_units) {}

  // Takes `count` adjacent units that start at a multiple of `alignment`; first fit. Returns the first, or nothing when no such
  // run is free. Linear in the number of units.
  std::optional<std::uint32_t> claim(std::uint32_t count, std::uint32_t alignment) const noexcept {
    if (count == 0 || count > num_units_) return std::nullopt;
    for (std::uint32_t first = 0; first <= num_units_ - count;) {
      const std::uint32_t taken = last_taken(first, count);
      if (taken == kNone && take(first, count)) return first;
      if (taken == kNone) continue;  // somebody else was quicker: look at the same place again
      first = (taken / alignment + 1) * alignment;
    }
    return std::nullopt;
  }

  void release(std::uint32_t first, std::uint32_t count) const noexcept {
    for_each_word(first, count, [this](std::uint32_t word, std::uint64_t mask) {
      words_[word].fetch_and(~mask, std::memory_order_release);  // (U1)
      return true;
    });
  }

  std::uint32_t num_taken() const noexcept {
    std::uint32_t taken = 0;
    for (std::uint32_t i = 0; i < num_words(num_units_); ++i) {
      taken += static_cast<std::uint32_t>(__builtin_popcountll(words_[i].load(std::memory_order_relaxed)));  // (U3)
    }
    return taken;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // The highest taken unit of a run, from where the search can go on.
  std::uint32_t last_taken(std::uint32_t first, std::uint32_t count) const noexcept {
    std::uint32_t last = kNone;
    for_each_word(first, count, [&](std::uint32_t word, std::uint64_t mask) {
      const std::uint64_t taken = words_[word].load(std::memory_order_relaxed) & mask;  // (U3)
      if (taken != 0) last = word * 64 + 63 - static_cast<std::uint32_t>(__builtin_clzll(taken));
      return true;
    });
    return last;
  }

  // All units or none.
  bool take(std::uint32_t first, std::uint32_t count) const noexcept {
    std::uint32_t done = 0;
    const bool complete = for_each_word(first, count, [&](std::uint32_t word, std::uint64_t mask) {
      std::uint64_t seen = words_[word].load(std::memory_order_relaxed);  // (U3)
      do {
        if ((seen & mask) != 0) return false;
      } while (!words_[word].compare_exchange_weak(seen, seen | mask, std::memory_order_acquire,  // (U2)
                                                   std::memory_order_relaxed));
      done += static_cast<std::uint32_t>(__builtin_popcountll(mask));
      return true;
    });
    if (!complete) release(first, done);
    return complete;
  }

  // Calls visit(word, mask) for the words that a run touches, in ascending order, until it returns false.
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

}  // namespace hierbar::mpi
