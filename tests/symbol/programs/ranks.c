// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Barriers of ranks; see sites.c.

#include <mpi.h>

static void exchange(MPI_Comm comm) {
  MPI_Barrier(comm);  // inlined
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 50; i++) {
    exchange(MPI_COMM_WORLD);     // inlines
    MPI_Barrier(MPI_COMM_WORLD);  // second
  }
  MPI_Finalize();
  return 0;
}
