// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A little of everything, for settings under which only the results matter, whatever barrier they
// lead to. Prints "right".

#include <omp.h>

#include <atomic>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

void barriers(int num_threads) {
  std::vector<long> slots(num_threads);
  long* const slot = slots.data();
#pragma omp parallel num_threads(num_threads)
  {
    const int me = omp_get_thread_num();
    const int size = omp_get_num_threads();  // KMP_LIBRARY=serial makes it 1
    for (long crossing = 1; crossing <= 40; ++crossing) {
      slot[me] = crossing;
#pragma omp barrier
      for (int i = 0; i < size; ++i) CHECK_EQUAL(slot[i], crossing);
#pragma omp barrier
    }
  }
}

void loops_and_reductions(int num_threads) {
  long sum = 0, again = 0;
#pragma omp parallel num_threads(num_threads)
  for (int round = 1; round <= 10; ++round) {
#pragma omp for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    CHECK_EQUAL(sum, 4950L * round);
#pragma omp single
    again += sum;
    CHECK_EQUAL(again, 4950L * round * (round + 1) / 2);
#pragma omp barrier
  }
}

void tasks(int num_threads) {
  std::atomic<int> done{0};
#pragma omp parallel num_threads(num_threads)
  for (int round = 1; round <= 10; ++round) {
#pragma omp single nowait
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(done)
      ++done;
    }
#pragma omp barrier
    CHECK_EQUAL(done.load(), 10 * round);
#pragma omp barrier
  }
}

void nested(int num_threads) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(num_threads)
  {
    barriers(2);
#pragma omp barrier
  }
  omp_set_max_active_levels(1);
}

}  // namespace

int main() {
  omp_set_dynamic(0);
  for (int num_threads : {2, 4, 7, 3}) {
    barriers(num_threads);
    loops_and_reductions(num_threads);
    tasks(num_threads);
  }
  nested(3);
  std::puts("right");
}
