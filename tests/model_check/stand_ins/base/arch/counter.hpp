// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

// Replaces runtime/base/arch/counter.hpp: without a clock, since nothing is traced.
namespace hierbar {
enum class ClockSource : std::uint8_t { kMonotonic };
inline std::uint64_t read_clock(ClockSource) noexcept { return 0; }
}  // namespace hierbar
