// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cancelled loops and sections as GCC compiles them, with OMP_CANCELLATION=true. There are more of them in turn than libomp has
// buffers for, so each must give its buffer back; and a region may be cancelled while a loop in it is.

#include <omp.h>

#include <atomic>

#include "check.hpp"

namespace {

constexpr int kMaxThreads = 5;

void dynamic_loops() {
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
    std::atomic<int> entered{0}, complete{0};
#pragma omp parallel num_threads(num_threads)
    for (int round = 0; round < 40; ++round) {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 1000; ++i) {
        ++entered;
#pragma omp cancel for if (i == 3)
#pragma omp cancellation point for
      }
#pragma omp for schedule(guided)
      for (unsigned long long i = 100; i > 0; --i) {
        ++entered;
#pragma omp cancel for
      }
#pragma omp for schedule(dynamic, 2)
      for (int i = 0; i < 10; ++i) ++complete;  // not cancelled
    }
    CHECK(entered.load() >= 40 * 5 && entered.load() < 40 * 1100);
    CHECK_EQUAL(complete.load(), 400);
  }
}

void long_loops_end_at_once() {
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 10; ++round) {
#pragma omp for schedule(dynamic)
    for (long i = 0; i < 4'000'000'000'000; ++i) {
#pragma omp cancel for
    }
  }
}

void sections() {
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
    std::atomic<int> executed{0};
#pragma omp parallel num_threads(num_threads)
    for (int round = 0; round < 40; ++round) {
#pragma omp sections
      {
#pragma omp section
        {
          ++executed;
#pragma omp cancel sections
        }
#pragma omp section
        {
          ++executed;
#pragma omp cancellation point sections
        }
#pragma omp section
        ++executed;
      }
    }
    CHECK(executed.load() >= 40 && executed.load() <= 120);
  }
}

// Some threads cancel a loop, others the region; all must leave, and the next region must find its buffers.
void loop_and_region_at_once() {
  for (int round = 0; round < 200; ++round) {
    const int num_threads = 2 + round % (kMaxThreads - 1);
    std::atomic<int> after{0}, complete{0};
#pragma omp parallel num_threads(num_threads)
    {
      if (omp_get_thread_num() % 2 == 1) {
#pragma omp cancel parallel
      }
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 100; ++i) {
#pragma omp cancel for
      }
      ++after;  // nobody: the odd ones have left, and the others wait for them
    }
    CHECK_EQUAL(after.load(), 0);
#pragma omp parallel for num_threads(num_threads) schedule(dynamic)
    for (int i = 0; i < 100; ++i) ++complete;
    CHECK_EQUAL(complete.load(), 100);
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  CHECK(omp_get_cancellation());
  return omp_test::run_case(argc, argv,
                            {{"dynamic_loops", dynamic_loops},
                             {"long_loops_end_at_once", long_loops_end_at_once},
                             {"sections", sections},
                             {"loop_and_region_at_once", loop_and_region_at_once}});
}
