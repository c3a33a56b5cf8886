// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To be preloaded before a shim. Programs that have no MPI_Barrier of their own then get one before
// and one after each of their collectives, on the same communicator. All ranks of a communicator
// call its collectives in the same order, so the barriers match. What a program can observe does
// not change, unless a barrier is wrong or damages the library's own state.

#include <mpi.h>

// The rest of a function's body.
#define AROUND(comm, call)    \
  MPI_Barrier(comm);          \
  const int status = P##call; \
  MPI_Barrier(comm);          \
  return status

typedef const void* In;
typedef const int* Counts;
typedef MPI_Datatype Type;

int MPI_Bcast(void* data, int count, Type type, int root, MPI_Comm comm) {
  AROUND(comm, MPI_Bcast(data, count, type, root, comm));
}

int MPI_Reduce(In in, void* out, int count, Type type, MPI_Op op, int root, MPI_Comm comm) {
  AROUND(comm, MPI_Reduce(in, out, count, type, op, root, comm));
}

int MPI_Allreduce(In in, void* out, int count, Type type, MPI_Op op, MPI_Comm comm) {
  AROUND(comm, MPI_Allreduce(in, out, count, type, op, comm));
}

int MPI_Scan(In in, void* out, int count, Type type, MPI_Op op, MPI_Comm comm) {
  AROUND(comm, MPI_Scan(in, out, count, type, op, comm));
}

int MPI_Exscan(In in, void* out, int count, Type type, MPI_Op op, MPI_Comm comm) {
  AROUND(comm, MPI_Exscan(in, out, count, type, op, comm));
}

int MPI_Reduce_scatter(In in, void* out, Counts counts, Type type, MPI_Op op, MPI_Comm comm) {
  AROUND(comm, MPI_Reduce_scatter(in, out, counts, type, op, comm));
}

int MPI_Reduce_scatter_block(In in, void* out, int count, Type type, MPI_Op op, MPI_Comm comm) {
  AROUND(comm, MPI_Reduce_scatter_block(in, out, count, type, op, comm));
}

int MPI_Gather(In in, int n, Type type, void* out, int m, Type other, int root, MPI_Comm comm) {
  AROUND(comm, MPI_Gather(in, n, type, out, m, other, root, comm));
}

int MPI_Scatter(In in, int n, Type type, void* out, int m, Type other, int root, MPI_Comm comm) {
  AROUND(comm, MPI_Scatter(in, n, type, out, m, other, root, comm));
}

int MPI_Allgather(In in, int n, Type type, void* out, int m, Type other, MPI_Comm comm) {
  AROUND(comm, MPI_Allgather(in, n, type, out, m, other, comm));
}

int MPI_Alltoall(In in, int n, Type type, void* out, int m, Type other, MPI_Comm comm) {
  AROUND(comm, MPI_Alltoall(in, n, type, out, m, other, comm));
}

int MPI_Gatherv(In in, int n, Type type, void* out, Counts counts, Counts offsets, Type other,
                int root, MPI_Comm comm) {
  AROUND(comm, MPI_Gatherv(in, n, type, out, counts, offsets, other, root, comm));
}

int MPI_Scatterv(In in, Counts counts, Counts offsets, Type type, void* out, int m, Type other,
                 int root, MPI_Comm comm) {
  AROUND(comm, MPI_Scatterv(in, counts, offsets, type, out, m, other, root, comm));
}

int MPI_Allgatherv(In in, int n, Type type, void* out, Counts counts, Counts offsets, Type other,
                   MPI_Comm comm) {
  AROUND(comm, MPI_Allgatherv(in, n, type, out, counts, offsets, other, comm));
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) { AROUND(comm, MPI_Comm_dup(comm, copy)); }

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  AROUND(comm, MPI_Comm_split(comm, color, key, part));
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* part) {
  AROUND(comm, MPI_Comm_create(comm, group, part));
}
