/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   The C API as a C11 compiler sees it: every declaration is used. */
#include <hierbar/hierbar.h>
#include <string.h>

int barrier_used_in_c(void);

static void count_line(void *context, const char *line) {
  if (line[0] != '\0') ++*(int *)context;
}

static void add_ints(void *context, void *left, const void *right, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i) ((int *)left)[i] += ((const int *)right)[i];
  ++*(int *)context;
}

static int use_collectives(hierbar_barrier *barrier) {
  const double in[2] = {1.5, -2.5};
  double out[2] = {0, 0};
  int number = 7;
  int num_calls = 0;
  if (hierbar_allreduce(barrier, 0, in, out, 2, HIERBAR_DOUBLE, HIERBAR_SUM) != HIERBAR_OK)
    return 9;
  if (memcmp(in, out, sizeof in) != 0) return 10;
  if (hierbar_allreduce_with(barrier, 0, &number, &number, 1, sizeof number, add_ints,
                             &num_calls) != HIERBAR_OK)
    return 11;
  if (hierbar_bcast(barrier, 0, 0, &number, sizeof number) != HIERBAR_OK) return 12;
  return number == 7 && num_calls == 0 ? 0 : 13;
}

static int use(hierbar_barrier *barrier) {
  uint32_t bits = 0;
  int num_lines = 0;
  int result;
  if (hierbar_barrier_num_participants(barrier) != 1) return 1;
  if (hierbar_barrier_describe(barrier, count_line, &num_lines) != HIERBAR_OK || num_lines == 0)
    return 2;
  if (hierbar_barrier_wait(barrier, 0) != HIERBAR_OK) return 3;
  if (hierbar_barrier_wait_bits(barrier, 0, 5u, &bits) != HIERBAR_OK || bits != 5u) return 4;
  if (hierbar_barrier_gather(barrier, 0, 6u, &bits) != HIERBAR_OK || bits != 6u) return 5;
  if (hierbar_barrier_release(barrier, 0, 7u, &bits) != HIERBAR_OK || bits != 7u) return 6;
  result = use_collectives(barrier);
  if (result != 0) return result;
  if (hierbar_barrier_abort(barrier) != HIERBAR_OK) return 7;
  if (hierbar_barrier_wait(barrier, 0) != HIERBAR_ABORTED) return 8;
  return 0;
}

int barrier_used_in_c(void) {
  static _Alignas(HIERBAR_MEMORY_ALIGNMENT) unsigned char memory[65536];
  hierbar_attributes attributes;
  hierbar_barrier *barrier;
  size_t size;
  int result;
  hierbar_attributes_init(&attributes, 1);
  attributes.collectives = 1;
  if (hierbar_barrier_create(&attributes, &barrier) != HIERBAR_OK) return 40;
  result = use(barrier);
  hierbar_barrier_destroy(barrier);
  if (result != 0) return result;
  if (hierbar_barrier_size(&attributes, &size) != HIERBAR_OK || size > sizeof memory) return 20;
  if (hierbar_barrier_init_shared(memory, size, &attributes) != HIERBAR_OK) return 21;
  if (hierbar_barrier_attach(memory, size, &attributes.waiting, &barrier) != HIERBAR_OK) return 22;
  result = use(barrier);
  hierbar_barrier_destroy(barrier);
  return result != 0 ? 30 + result : strcmp(hierbar_status_text(HIERBAR_OK), "success");
}
