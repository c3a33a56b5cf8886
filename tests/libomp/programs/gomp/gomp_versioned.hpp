// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>

#include "tests/libomp/programs/check.hpp"

// Declares a function that is found under this name and version.
#define VERSIONED(result, name, version, ...) \
  result versioned_##name(__VA_ARGS__);       \
  __asm__(".symver versioned_" #name "," #name "@" version)

namespace omp_test {

// Every case opens a region too, so that the counters show which library runs.
inline void cross_some_barriers() {
  std::atomic<int> arrived{0};
#pragma omp parallel num_threads(4)
  for (int round = 1; round <= 20; ++round) {
    ++arrived;
#pragma omp barrier
    CHECK_EQUAL(arrived.load(), 4 * round);
#pragma omp barrier
  }
}

}  // namespace omp_test
