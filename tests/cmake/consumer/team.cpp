// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <omp.h>

#include <cstdio>

int main() {
#pragma omp parallel
  {
#pragma omp single
    std::printf("team of %d\n", omp_get_num_threads());
  }
}
