/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Barriers as a Fortran program calls them, over a library with Fortran's routines for the standard
   ABI. Handles are integers there, those of predefined objects the same numbers as in C. No Fortran
   compiler is needed, and no module of the library's. */

#include <stdio.h>

void mpi_init_(int *status);
void mpi_comm_dup_(const int *comm, int *made, int *status);
void mpi_comm_free_(int *comm, int *status);
void mpi_barrier_(const int *comm, int *status);
void mpi_finalize_(int *status);

enum { kWorld = 0x101, kBarriers = 50 };

static int num_errors = 0;

static void meet(int comm) {
  for (int i = 0; i < kBarriers; ++i) {
    int status = -1;
    mpi_barrier_(&comm, &status);
    num_errors += status != 0;
  }
}

int main(void) {
  int status = -1, copy = 0;
  mpi_init_(&status);
  num_errors += status != 0;
  meet(kWorld);
  const int world = kWorld;
  mpi_comm_dup_(&world, &copy, &status);
  num_errors += status != 0;
  meet(copy);
  mpi_comm_free_(&copy, &status);
  mpi_finalize_(&status);
  num_errors += status != 0;
  if (num_errors != 0) printf("%d errors\n", num_errors);
  return num_errors != 0;
}
