// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linked into what brings its own C++ library. Any program that links libstdc++ statically gets
// std::random_device with it, whose arc4random() is glibc's only since 2.36. Nothing here uses it,
// so this definition is never called; it keeps the symbol from being asked of glibc.

#include <sys/random.h>

#include <cstdint>

extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) __builtin_trap();
  return number;
}
