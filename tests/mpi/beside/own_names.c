/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* A library of a program in C, whose functions have names that Fortran compilers give to routines
   of MPI. Each shows that it has got its arguments, whatever their kind. With -DPROGRAM the program
   that calls them. */

#include <mpi.h>

#ifdef PROGRAM

int call_own_names(int num_barriers);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = call_own_names(100);
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
  return 0;
}

#else

#define EXPORT __attribute__((visibility("default")))

EXPORT double mpi_barrier(double half, int num_barriers, int one, int two, int three, int four,
                          int five, int six, int seven) {
  const int sum = one + two + three + four + five + six + seven;
  for (int i = 0; i < num_barriers; ++i) MPI_Barrier(MPI_COMM_WORLD);
  return sum == 28 ? half + half : -1;
}

EXPORT int MPI_BUFFER_ATTACH(int a, int b, int c, int d) { return 1000 * a + 100 * b + 10 * c + d; }

/* So that the calls go the way of calls between libraries. */
EXPORT int call_own_names(int num_barriers) {
  if (mpi_barrier(0.5, num_barriers, 1, 2, 3, 4, 5, 6, 7) != 1) return 1;
  return MPI_BUFFER_ATTACH(1, 2, 3, 4) == 1234 ? 0 : 2;
}

#endif
