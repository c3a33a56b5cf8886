/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* No tool. It breaks MPI_Allreduce, so that collectives_fuzz must fail, or it shows nothing. In
   every 20th call a rank, which the variable BREAKS says how,

     bits     changes the last bit of a sum of MPI_DOUBLE, only in rank 1
     element  keeps its own last element
     beyond   writes a byte behind the result
     input    writes to the send buffer
     never    does not come back */

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char* what) {
  const char* const breaks = getenv("BREAKS");
  return breaks != NULL && strcmp(breaks, what) == 0;
}

static int is_rank_1(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 1;
}

__attribute__((visibility("default"))) int MPI_Allreduce(const void* in, void* out, int count,
                                                         MPI_Datatype type, MPI_Op op,
                                                         MPI_Comm comm) {
  static int num_calls = 0;
  char own[64];
  MPI_Aint begin, size;
  PMPI_Type_get_extent(type, &begin, &size);
  const size_t bytes = (size_t)size;
  if (count == 0 || bytes > sizeof own) return PMPI_Allreduce(in, out, count, type, op, comm);
  const int breaks = ++num_calls % 20 == 0;
  char* const last = (char*)out + bytes * (size_t)(count - 1);
  memcpy(own, in == MPI_IN_PLACE ? last : (const char*)in + (last - (char*)out), bytes);
  const int status = PMPI_Allreduce(in, out, count, type, op, comm);
  if (is("bits") && type == MPI_DOUBLE && op == MPI_SUM && is_rank_1()) *last ^= 1;
  if (is("element") && breaks) memcpy(last, own, bytes);
  if (is("beyond") && breaks) last[bytes] = 0;
  if (is("input") && breaks && in != MPI_IN_PLACE) ++*(char*)in;
  while (is("never") && breaks) pause();
  return status;
}
