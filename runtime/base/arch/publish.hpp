// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arch/memory.hpp"
#include "base/arch/vendor.hpp"

namespace hierbar {

// Release stores that earlier non-temporal stores cannot be seen behind. Both are right on every
// processor; they differ in the time until others see the word.
inline void publish_by_store(std::atomic<std::uint64_t>& word, std::uint64_t value) noexcept {
  fence_non_temporal_stores();
  word.store(value, std::memory_order_release);
}
inline void publish_by_exchange(std::atomic<std::uint64_t>& word, std::uint64_t value) noexcept {
  word.exchange(value, std::memory_order_release);
}

// AMD's cores see an exchange sooner (docs/design/waiting.md#d0218). It is found out when the
// library is loaded; before that publish() stores.
//
// A constructor, which every source file that includes this has: Clang guards the initializer of an
// inline variable by functions of the C++ library, which libomp has to do without.
inline bool exchange_is_seen_sooner = false;
inline bool is_vendor_known = false;

[[gnu::constructor]] static void find_vendor() noexcept {
  if (is_vendor_known) return;
  is_vendor_known = true;
  exchange_is_seen_sooner = cpu_vendor() == CpuVendor::kAmd;
}

[[gnu::always_inline]] inline void publish(std::atomic<std::uint64_t>& word,
                                           std::uint64_t value) noexcept {
  if (exchange_is_seen_sooner) {
    publish_by_exchange(word, value);
  } else {
    publish_by_store(word, value);
  }
}

}  // namespace hierbar
