// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <compare>
#include <vector>

namespace hierbar {

// The order of two sequences of numbers: by the first that differ, else the shorter one first. As a
// vector's own <=> and < have it, which are wrong for unsigned numbers on big-endian machines with
// libstdc++ 12: they take the number of elements for one of bytes, and compare no further.
template <class Number>
std::strong_ordering compare_sequences(const std::vector<Number>& a, const std::vector<Number>& b) {
  return std::lexicographical_compare_three_way(
      a.begin(), a.end(), b.begin(), b.end(),
      [](Number mine, Number other) { return mine <=> other; });
}

// The same for the keys of maps.
struct BySequence {
  template <class Number>
  bool operator()(const std::vector<Number>& a, const std::vector<Number>& b) const {
    return compare_sequences(a, b) < 0;
  }
};

}  // namespace hierbar
