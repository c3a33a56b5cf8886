/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Calls barriers in MPI_Finalize: in two callbacks of MPI_COMM_SELF. The first is set before the
   first barrier, and so it is called last, the other one is set after it. Each calls 10 barriers on
   MPI_COMM_WORLD, 10 on a duplicate that lives on, and one on a duplicate of its own. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm lasting;

static void check(int status) {
  if (status == MPI_SUCCESS) return;
  fprintf(stderr, "at_end: a call of MPI fails in MPI_Finalize\n");
  abort();
}

static int call_barriers(MPI_Comm comm, int key, void *attribute, void *context) {
  (void)comm, (void)key, (void)attribute, (void)context;
  for (int round = 0; round < 10; ++round) {
    check(MPI_Barrier(MPI_COMM_WORLD));
    check(MPI_Barrier(lasting));
  }
  MPI_Comm own;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &own));
  check(MPI_Barrier(own));
  check(MPI_Comm_free(&own));
  return MPI_SUCCESS;
}

static void call_at_end(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_barriers, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &lasting);
  call_at_end();
  MPI_Barrier(MPI_COMM_WORLD);
  call_at_end();
  MPI_Finalize();
  return 0;
}
