// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace hierbar::test {

// A 64-bit mixing function (the finaliser of splitmix64): equal arguments give equal values on
// every machine.
constexpr std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

// Small, fast, the same everywhere; the standard's distributions are neither.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(mix(seed + 1)) {}

  std::uint64_t next() noexcept { return mix(state_ += 0x9E3779B97F4A7C15U); }
  // 0 <= result < bound.
  std::uint32_t below(std::uint32_t bound) noexcept {
    return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
  }
  bool one_in(std::uint32_t chances) noexcept { return below(chances) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace hierbar::test
