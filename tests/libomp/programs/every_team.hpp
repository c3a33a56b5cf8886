// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>

#include <atomic>

#include "tests/libomp/programs/check.hpp"

namespace omp_test {

// Runs the body in every thread of teams of `smallest` to `largest` threads, num_rounds times each:
// body(thread, round, size).
template <class Body>
void in_every_team(int smallest, int largest, int num_rounds, Body&& body) {
  for (int num_threads = smallest; num_threads <= largest; ++num_threads) {
#pragma omp parallel num_threads(num_threads)
    for (int round = 0; round < num_rounds; ++round) body(omp_get_thread_num(), round, num_threads);
  }
}

// In all threads of a team. After the first barrier that many tasks are done; after the last one
// they are counted from 0 again.
inline void expect_done(std::atomic<int>& done, int expected) {
#pragma omp barrier
  CHECK_EQUAL(done.load(), expected);
#pragma omp barrier
  if (omp_get_thread_num() == 0) done = 0;
#pragma omp barrier
}

}  // namespace omp_test
