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
inline const bool kExchangeIsSeenSooner = cpu_vendor() == CpuVendor::kAmd;

[[gnu::always_inline]] inline void publish(std::atomic<std::uint64_t>& word,
                                           std::uint64_t value) noexcept {
  if (kExchangeIsSeenSooner) {
    publish_by_exchange(word, value);
  } else {
    publish_by_store(word, value);
  }
}

}  // namespace hierbar
