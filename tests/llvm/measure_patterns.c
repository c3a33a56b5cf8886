// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What one construct costs inside a region, for measure_patterns.py: prints for each "name ns", the
// median of batches.
//
//   measure_patterns THREADS ITERATIONS

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBatches = 25 };

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// BODY is a construct that ends with a plain barrier, which makes the threads' batches begin and
// end together. The first batch is to warm up.
#define MEASURE(NAME, BODY)                                                      \
  do {                                                                           \
    double batches[kBatches + 1];                                                \
    _Pragma("omp parallel num_threads(threads)") {                               \
      for (int batch = 0; batch <= kBatches; ++batch) {                          \
        const double start = omp_get_wtime();                                    \
        for (int i = 0; i < iterations; ++i) BODY;                               \
        if (omp_get_thread_num() == 0) batches[batch] = omp_get_wtime() - start; \
      }                                                                          \
    }                                                                            \
    qsort(batches + 1, kBatches, sizeof *batches, ascending);                    \
    printf("%s %.1f\n", NAME, batches[1 + kBatches / 2] * 1e9 / iterations);     \
  } while (0)

static void loop(void) {
#pragma omp for
  for (int i = 0; i < omp_get_num_threads(); ++i) {
  }
}

static void single(void) {
#pragma omp single
  {
  }
}

static void reduction(double* sum) {
#pragma omp for reduction(+ : sum[0])
  for (int i = 0; i < omp_get_num_threads(); ++i) sum[0] += i;
}

static void barrier(void) {
#pragma omp barrier
}

static void barrier_with_task(void) {
  if (omp_get_thread_num() == 0) {
#pragma omp task
    {
    }
  }
#pragma omp barrier
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int threads = atoi(argv[1]), iterations = atoi(argv[2]);
  double sum = 0;
  MEASURE("barrier", barrier());
  MEASURE("for", loop());
  MEASURE("single", single());
  MEASURE("reduction", reduction(&sum));
  MEASURE("task-and-barrier", barrier_with_task());
  return 0;
}
