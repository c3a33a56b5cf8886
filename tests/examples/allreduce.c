/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include <hierbar/hierbar.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { num_threads = 4, cells_of_thread = 4, num_cells = num_threads * cells_of_thread };

static hierbar_barrier *barrier;
static double rod[2][num_cells + 2]; /* temperatures before and after a step, in turn */

/* Heat flows until no cell changes any more. The allreduce is the barrier between two steps, and
   gives all threads the same largest change, so that all stop after the same step. */
static void *work(void *argument) {
  const uint32_t me = *(const uint32_t *)argument;
  const int first = 1 + (int)me * cells_of_thread;
  int step = 0;
  double change = 1;
  while (change > 0.01) {
    const double *before = rod[step % 2];
    double *after = rod[++step % 2];
    change = 0;
    for (int i = first; i < first + cells_of_thread; ++i) {
      after[i] = (before[i - 1] + before[i + 1]) / 2;
      if (fabs(after[i] - before[i]) > change) change = fabs(after[i] - before[i]);
    }
    if (hierbar_allreduce(barrier, me, &change, &change, 1, HIERBAR_DOUBLE, HIERBAR_MAX) !=
        HIERBAR_OK)
      return NULL;
  }
  if (me == num_threads / 2)
    printf("%.1f degrees in the middle after %d steps\n", rod[step % 2][first], step);
  return NULL;
}

int main(void) {
  hierbar_attributes attributes;
  hierbar_attributes_init(&attributes, num_threads);
  attributes.collectives = 1;
  const hierbar_status status = hierbar_barrier_create(&attributes, &barrier);
  if (status != HIERBAR_OK) {
    fprintf(stderr, "no barrier: %s\n", hierbar_status_text(status));
    return 1;
  }

  rod[0][0] = rod[1][0] = 100; /* one end is heated, the other one kept at 0 degrees */
  pthread_t threads[num_threads];
  uint32_t numbers[num_threads];
  for (uint32_t i = 0; i < num_threads; ++i) numbers[i] = i;
  for (int i = 0; i < num_threads; ++i) pthread_create(&threads[i], NULL, work, &numbers[i]);
  for (int i = 0; i < num_threads; ++i) pthread_join(threads[i], NULL);
  hierbar_barrier_destroy(barrier);
  return 0;
}
