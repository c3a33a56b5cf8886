/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* The program of own_names.c. */

#include <mpi.h>

int call_own_names(int num_barriers);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = call_own_names(100);
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
  return 0;
}
