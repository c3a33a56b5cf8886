// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <cstdint>

// How far apart words are that different cpus write: the one figure of a plan that depends on the
// machine where its tree does not. Needs no C++ library, because libomp includes it.

namespace hierbar {

// For lines of `line_bytes`; 0 or less: not known. A power of two, and at least 128: x86 fetches the
// neighbour of a 64-byte line with it. A64FX and s390 have lines of 256 bytes.
constexpr std::uint32_t line_distance(long line_bytes) noexcept {
  std::uint32_t distance = 128;
  while (static_cast<long>(distance) < line_bytes) distance *= 2;
  return distance;
}

// On this machine. Costs as much as sysconf(), which looks at what the C library knows.
inline std::uint32_t own_line_distance() noexcept { return line_distance(sysconf(_SC_LEVEL1_DCACHE_LINESIZE)); }

}  // namespace hierbar
