/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   The README's ./app: an OpenMP program that waits for itself 2000 times. */
#include <stdio.h>

enum { num_steps = 2000 };

int main(void) {
  double sum = 0;
#pragma omp parallel num_threads(2)
  for (int step = 0; step < num_steps; ++step) {
#pragma omp atomic
    sum += step;
#pragma omp barrier
  }
  printf("%g\n", sum);
  return 0;
}
