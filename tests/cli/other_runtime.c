/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Stands for a runtime that a package brings under a name of its own. It says so when it is loaded,
   and has what `teams.c` needs of libgomp, in the same versions; a call of it ends the program. */
#include <stdio.h>
#include <stdlib.h>

static void refuse(void) {
  printf("the other runtime was called\n");
  exit(1);
}
__attribute__((constructor)) static void loaded(void) { printf("the other runtime was loaded\n"); }

void GOMP_barrier(void) { refuse(); }
void GOMP_parallel(void (*function)(void *), void *data, unsigned num_threads, unsigned flags) {
  (void)function, (void)data, (void)num_threads, (void)flags;
  refuse();
}
int omp_get_num_threads(void) {
  refuse();
  return 0;
}
