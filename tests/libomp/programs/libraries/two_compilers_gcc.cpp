// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The half of two_compilers that GCC compiles, into a library that needs libgomp.so.1.

// BUILD as libtwo_compilers_gcc.so: gcc -fPIC -shared

#include <omp.h>

extern "C" {

// Inside a region of the other half's: one barrier of its team.
int gcc_cross(int crossed) {
#pragma omp barrier
  return crossed + 1;
}

// A region of its own; body(thread) runs in all its threads, with a barrier after it.
void gcc_region(int num_threads, void (*body)(int thread)) {
#pragma omp parallel num_threads(num_threads)
  {
    body(omp_get_thread_num());
#pragma omp barrier
  }
}

int gcc_max_threads() { return omp_get_max_threads(); }

void gcc_set_num_threads(int num_threads) { omp_set_num_threads(num_threads); }
}
