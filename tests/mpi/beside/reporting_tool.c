/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* A tool of the kind that profilers of MPI are: it counts calls, passes each on to its PMPI function,
   and reports in MPI_Finalize, or when the program aborts. */

#include <mpi.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

static int num_barriers, num_dups, num_frees;

EXPORT int MPI_Barrier(MPI_Comm comm) {
  ++num_barriers;
  return PMPI_Barrier(comm);
}

EXPORT int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  ++num_dups;
  return PMPI_Comm_dup(comm, made);
}

EXPORT int MPI_Comm_free(MPI_Comm* comm) {
  ++num_frees;
  return PMPI_Comm_free(comm);
}

EXPORT int MPI_Comm_disconnect(MPI_Comm* comm) {
  ++num_frees;
  return PMPI_Comm_disconnect(comm);
}

static void report(const char* end) {
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  fprintf(stderr, "tool: %s after %d barriers, %d duplicates, %d frees\n", end, num_barriers, num_dups, num_frees);
}

EXPORT int MPI_Abort(MPI_Comm comm, int status) {
  report("aborted");
  return PMPI_Abort(comm, status);
}

EXPORT int MPI_Finalize(void) {
  report("finalised");
  return PMPI_Finalize();
}

EXPORT int MPI_Buffer_attach(void* buffer, int size) {
  fprintf(stderr, "tool: a buffer\n");
  return PMPI_Buffer_attach(buffer, size);
}
