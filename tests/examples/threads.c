/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include <hierbar/hierbar.h>
#include <pthread.h>
#include <stdio.h>

enum { num_threads = 4, num_steps = 1000 };

static hierbar_barrier *barrier;
static uint32_t values[2][num_threads]; /* of this step and of the one before, in turn */

/* In every step each thread takes over its neighbour's value. The barrier keeps the steps apart. */
static void *work(void *argument) {
  const uint32_t me = *(const uint32_t *)argument;
  for (int step = 1; step <= num_steps; ++step) {
    values[step % 2][me] = values[(step - 1) % 2][(me + 1) % num_threads];
    if (hierbar_barrier_wait(barrier, me) != HIERBAR_OK) return NULL;
  }
  return NULL;
}

int main(void) {
  hierbar_attributes attributes;
  hierbar_attributes_init(&attributes, num_threads);
  const hierbar_status status = hierbar_barrier_create(&attributes, &barrier);
  if (status != HIERBAR_OK) {
    fprintf(stderr, "no barrier: %s\n", hierbar_status_text(status));
    return 1;
  }

  pthread_t threads[num_threads];
  uint32_t numbers[num_threads];
  for (uint32_t i = 0; i < num_threads; ++i) values[0][i] = numbers[i] = i;
  for (int i = 0; i < num_threads; ++i) pthread_create(&threads[i], NULL, work, &numbers[i]);
  for (int i = 0; i < num_threads; ++i) pthread_join(threads[i], NULL);
  hierbar_barrier_destroy(barrier);

  printf("after %d steps:", num_steps);
  for (int i = 0; i < num_threads; ++i) printf(" %u", values[num_steps % 2][i]);
  printf("\n");
  return 0;
}
