// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/random_id.hpp"

#include <sys/random.h>
#include <unistd.h>

#include "base/clock.hpp"

namespace hierbar {

std::uint64_t random_id() {
  std::uint64_t id = 0;
  while (id == 0) {
    if (getrandom(&id, sizeof(id), 0) == sizeof(id)) continue;
    // The fallback is not random, but differs from call to call on one machine.
    id = static_cast<std::uint64_t>(monotonic_ns()) << 22 ^ static_cast<std::uint64_t>(getpid());
  }
  return id;
}

}  // namespace hierbar
