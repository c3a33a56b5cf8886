// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions that tasks take part in, in regions that are cancelled, with OMP_CANCELLATION=true;
// for Clang and GCC. What the threads of such a region share for a reduction is not for the next
// one.

// BUILD: clang
// BUILD: gcc
// TEST: loops regions
//   ENV: OMP_CANCELLATION=true
//   CHECK: --counter phased>=600
// TEST stock_pattern (clang): loops regions
//   ENV: KMP_BARRIER OMP_CANCELLATION=true

#include <omp.h>

#include "tests/libomp/programs/check.hpp"

namespace {

// Clang's code for a reduction at the end of a loop may wait for all threads, also for those that
// have left a cancelled region. It does not if there are few and the loop does not wait. GCC does
// not take the clause.
constexpr int kMaxThreads = 4;
#ifdef __clang__
#define HIERBAR_REDUCED_LOOP _Pragma("omp for schedule(dynamic) reduction(task, + : sum) nowait")
#else
#define HIERBAR_REDUCED_LOOP _Pragma("omp for schedule(dynamic) reduction(task, + : sum)")
#endif

long add_in_loop(int num_threads, int leaver) {
  long sum = 0;
#pragma omp parallel num_threads(num_threads)
  {
    if (omp_get_thread_num() == leaver) {
#pragma omp cancel parallel
    }
    HIERBAR_REDUCED_LOOP
    for (int i = 0; i < 8; ++i) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
      sum += i;
    }
#pragma omp barrier
  }
  return sum;
}

// A thread leaves the region before a loop in which the others are.
void loops() {
  for (int round = 0; round < 300; ++round) {
    const int num_threads = 2 + round % (kMaxThreads - 1);
    add_in_loop(num_threads, round % num_threads);
    CHECK_EQUAL(add_in_loop(kMaxThreads, -1), 28);
  }
}

long add_in_region(int num_threads, int leaver) {
  long sum = 0;
#pragma omp parallel num_threads(num_threads) reduction(task, + : sum)
  {
#pragma omp task in_reduction(+ : sum)
    sum += 1;
    if (omp_get_thread_num() == leaver) {
#pragma omp cancel parallel
    }
#pragma omp barrier
  }
  return sum;
}

void regions() {
  for (int round = 0; round < 300; ++round) {
    const int num_threads = 2 + round % (kMaxThreads - 1);
    add_in_region(num_threads, round % num_threads);
    CHECK_EQUAL(add_in_region(kMaxThreads, -1), kMaxThreads);
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  CHECK(omp_get_cancellation());
  return omp_test::run_case(argc, argv, {{"loops", loops}, {"regions", regions}});
}
