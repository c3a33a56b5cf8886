/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* A tool that does not call PMPI functions: it looks for the library's own in the library's file, whose
   name the variable TESTED_LIBRARY has. */

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static int num_barriers, num_frees;

static void *find(const char *symbol) {
  void *const library = dlopen(getenv("TESTED_LIBRARY"), RTLD_LAZY);
  void *const found = library != NULL ? dlsym(library, symbol) : NULL;
  if (found == NULL) abort();
  return found;
}

EXPORT int MPI_Barrier(MPI_Comm comm) {
  ++num_barriers;
  return ((int (*)(MPI_Comm))find("MPI_Barrier"))(comm);
}

EXPORT int MPI_Comm_free(MPI_Comm *comm) {
  ++num_frees;
  return ((int (*)(MPI_Comm *))find("MPI_Comm_free"))(comm);
}

EXPORT int MPI_Finalize(void) {
  int rank = -1;
  ((int (*)(MPI_Comm, int *))find("MPI_Comm_rank"))(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "tool: finalised after %d barriers, %d frees\n", num_barriers, num_frees);
  return ((int (*)(void))find("MPI_Finalize"))();
}
