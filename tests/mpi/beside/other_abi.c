/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Libraries that programs take for MPI, and that no shim can serve. With -DSEQUENTIAL it is a
   substitute for programs on one process, as MUMPS has one: a few functions, in C and Fortran, and
   no PMPI function. Otherwise it is a whole library, whose handles are neither MPICH's nor Open
   MPI's; whoever gives it another handle is told. With -DPROGRAM the program that calls them. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kWorld = 0x7f0011 };

#ifdef PROGRAM

int MPI_Barrier(uintptr_t comm);
int MPI_Finalize(void);
void mpi_barrier_(const int* comm, int* status);

int main(void) {
  const int world = kWorld;
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

#else

static int check(uintptr_t comm) {
  if (comm == kWorld) return 0;
  fprintf(stderr, "other ABI: no communicator: %#lx\n", (unsigned long)comm);
  abort();
}

#ifdef SEQUENTIAL

int MPI_Barrier(uintptr_t comm) { return check(comm); }
int MPI_Finalize(void) { return 0; }
void mpi_barrier_(const int* comm, int* status) { *status = check((uintptr_t)*comm); }
void mpi_finalize_(int* status) { *status = 0; }

#else

#define FUNCTION(name) \
  int PMPI_##name(void) { fprintf(stderr, "other ABI: %s\n", #name), abort(); }
FUNCTION(Allgather)
FUNCTION(Allreduce)
FUNCTION(Alltoall)
FUNCTION(Bcast)
FUNCTION(Comm_disconnect)
FUNCTION(Comm_dup)
FUNCTION(Gather)
FUNCTION(Reduce)
FUNCTION(Reduce_scatter_block)
FUNCTION(Scatter)
#include "functions.h" /* other_abi_test.sh writes it */
int PMPI_Barrier(uintptr_t comm) { return check(comm); }
int MPI_Barrier(uintptr_t comm) { return PMPI_Barrier(comm); }
int PMPI_Buffer_attach(void* buffer, int size) { return buffer == NULL || size == 0; }
int PMPI_Abort(uintptr_t comm, int status) { exit(check(comm) + status); }
int PMPI_Finalize(void) { return 0; }
int MPI_Finalize(void) { return PMPI_Finalize(); }
void pmpi_barrier_(const int* comm, int* status) { *status = check((uintptr_t)*comm); }
void mpi_barrier_(const int* comm, int* status) { pmpi_barrier_(comm, status); }

#endif

#endif
