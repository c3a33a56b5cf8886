/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* The program of other_abi.c. */

#include <stdint.h>
#include <stdio.h>

int MPI_Barrier(uintptr_t comm);
int MPI_Finalize(void);
void mpi_barrier_(const int* comm, int* status);

int main(void) {
  const int world = 0x7f0011;
  int status = -1;
  for (int i = 0; i < 10; ++i) {
    if (MPI_Barrier((uintptr_t)world) != 0) return 1;
    mpi_barrier_(&world, &status);
    if (status != 0) return 2;
  }
  if (MPI_Finalize() != 0) return 3;
  printf("the program has ended\n");
  return 0;
}
