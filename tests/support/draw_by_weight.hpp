// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/common/random.hpp"

namespace hierbar::test {

// One of the entries, each as likely as its `weight` says, a number that is not below 0. At least
// one is above.
template <class Entry, std::size_t kNumEntries>
const Entry& draw_by_weight(Random& random, const Entry (&entries)[kNumEntries]) noexcept {
  std::uint32_t total = 0;
  for (const Entry& entry : entries) total += static_cast<std::uint32_t>(entry.weight);
  std::uint32_t left = random.below(total);
  const Entry* entry = entries;
  while (left >= static_cast<std::uint32_t>(entry->weight))
    left -= static_cast<std::uint32_t>(entry++->weight);
  return *entry;
}

}  // namespace hierbar::test
