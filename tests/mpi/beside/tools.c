/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Libraries that are loaded beside the shim, one for each macro:

   -DCOUNTS       a tool of the kind that counts MPI calls: it has MPI_Barrier, MPI_Allgather,
                  MPI_Allreduce, MPI_Alltoall, MPI_Bcast, MPI_Gather, MPI_Reduce,
                  MPI_Reduce_scatter_block and MPI_Scatter, and passes each on to its PMPI
                  function
   -DREPORTS      a tool of the kind that profilers of MPI are: it counts calls, passes each on to
                  its PMPI function, and reports in MPI_Finalize, or when the program aborts
   -DFINDS        a tool that does not call PMPI functions: it looks for the library's own in the
                  library's file, whose name the variable TESTED_LIBRARY has
   -DSEES_WINDOWS a tool before the shim that sees the program's windows
   -DNO_PROGRESS  no tool. It breaks the shim: the progress that it asks the MPI library for is
                  never made. The tests of progress must hang then, or they show nothing */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef NO_PROGRESS
#include <mpi.h>
#endif

#define EXPORT __attribute__((visibility("default")))

#if defined(COUNTS)

static int num_barriers = 0, num_allreduces = 0, num_bcasts = 0, num_reduces = 0;
static int num_allgathers = 0, num_alltoalls = 0;
static int num_gathers = 0, num_scatters = 0, num_reduce_scatters = 0;

EXPORT int MPI_Barrier(MPI_Comm comm) {
  ++num_barriers;
  return PMPI_Barrier(comm);
}

EXPORT int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm) {
  ++num_allreduces;
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

EXPORT int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out,
                         int out_count, MPI_Datatype out_type, MPI_Comm comm) {
  ++num_allgathers;
  return PMPI_Allgather(in, in_count, in_type, out, out_count, out_type, comm);
}

EXPORT int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out,
                        int out_count, MPI_Datatype out_type, MPI_Comm comm) {
  ++num_alltoalls;
  return PMPI_Alltoall(in, in_count, in_type, out, out_count, out_type, comm);
}

EXPORT int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++num_bcasts;
  return PMPI_Bcast(data, count, type, root, comm);
}

EXPORT int MPI_Gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                      MPI_Datatype out_type, int root, MPI_Comm comm) {
  ++num_gathers;
  return PMPI_Gather(in, in_count, in_type, out, out_count, out_type, root, comm);
}

EXPORT int MPI_Scatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                       MPI_Datatype out_type, int root, MPI_Comm comm) {
  ++num_scatters;
  return PMPI_Scatter(in, in_count, in_type, out, out_count, out_type, root, comm);
}

EXPORT int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type,
                                    MPI_Op op, MPI_Comm comm) {
  ++num_reduce_scatters;
  return PMPI_Reduce_scatter_block(in, out, count, type, op, comm);
}

EXPORT int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm) {
  ++num_reduces;
  return PMPI_Reduce(in, out, count, type, op, root, comm);
}

__attribute__((destructor)) static void report(void) {
  if (num_barriers > 0) fprintf(stderr, "tool: %d barriers\n", num_barriers);
  if (num_allreduces > 0) fprintf(stderr, "tool: %d allreduces\n", num_allreduces);
  if (num_bcasts + num_reduces > 0)
    fprintf(stderr, "tool: %d bcasts, %d reduces\n", num_bcasts, num_reduces);
  if (num_allgathers + num_alltoalls > 0)
    fprintf(stderr, "tool: %d allgathers, %d alltoalls\n", num_allgathers, num_alltoalls);
  if (num_gathers + num_scatters > 0)
    fprintf(stderr, "tool: %d gathers, %d scatters\n", num_gathers, num_scatters);
  if (num_reduce_scatters > 0) fprintf(stderr, "tool: %d reduce-scatters\n", num_reduce_scatters);
}

#elif defined(REPORTS)

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
  fprintf(stderr, "tool: %s after %d barriers, %d duplicates, %d frees\n", end, num_barriers,
          num_dups, num_frees);
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

#elif defined(FINDS)

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
  if (rank == 0)
    fprintf(stderr, "tool: finalised after %d barriers, %d frees\n", num_barriers, num_frees);
  return ((int (*)(void))find("MPI_Finalize"))();
}

#elif defined(SEES_WINDOWS)

EXPORT int MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                          MPI_Win *window) {
  return PMPI_Win_create(base, size, unit, info, comm, window);
}

#elif defined(NO_PROGRESS)

EXPORT int MPIX_Stream_progress(int stream) {
  (void)stream;
  return 0;
}

/* Open MPI calls its own function as well, and must have it. */
EXPORT void opal_progress(void) {
  Dl_info caller;
  if (dladdr(__builtin_return_address(0), &caller) != 0 &&
      strstr(caller.dli_fname, "libhierbar_mpi") != NULL)
    return;
  static void (*progress)(void) = NULL;
  if (progress == NULL) *(void **)&progress = dlsym(RTLD_NEXT, "opal_progress");
  progress();
}

#endif
