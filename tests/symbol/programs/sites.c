// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Barriers whose names and lines site_names_test.py looks for: a comment after a call is its name.

#include <omp.h>

static double values[100];

static inline void relax(int n) {
  for (int i = 0; i < n; i++) values[i] += 1;
#pragma omp barrier  // inlined
}

__attribute__((noinline)) void step(int n) {
#pragma omp parallel num_threads(2)  // region
  {
    relax(n);        // inlines
#pragma omp barrier  // second
    values[omp_get_thread_num()] += 2;
#pragma omp barrier  // third
    values[omp_get_thread_num()] += 2;
  }
}

// The compiler makes a jump of the last call. So no return address is in the program's code.
__attribute__((noinline)) void last(int n) {
#pragma omp parallel num_threads(2)  // last region
  {
    values[omp_get_thread_num()] += n;
#pragma omp barrier  // jump
  }
}

int main(void) {
  for (int i = 0; i < 100; i++) {
    step(100);
    last(i);
  }
  return values[0] < 0;
}
