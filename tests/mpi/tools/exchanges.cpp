// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// exchanges [--time]: sends that count_test.py knows. With --time, prints the microseconds of a
// message of a byte between ranks 0 and 1.

#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

void time_messages(int rank) {
  constexpr int kMessages = 20000;
  char byte = 0;
  double best = 1e9;
  for (int turn = 0; turn < 9; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < kMessages && rank < 2; ++i) {
      if (rank == 0) MPI_Send(&byte, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      if (rank == 1) MPI_Recv(&byte, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    const double us = (MPI_Wtime() - start) * 1e6 / kMessages;
    best = us < best ? us : best;
  }
  if (rank == 0) std::printf("%.4f\n", best);
}

// Between rank 0 and the others: an int to each of the other group, then two ints to each.
void exchange_between_groups(int rank) {
  std::vector<int> data(100), received(100);
  const std::vector<int> counts(100, 2), offsets(100, 0);
  MPI_Comm group, between;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &between);
  MPI_Alltoall(data.data(), 1, MPI_INT, received.data(), 1, MPI_INT, between);
  MPI_Alltoallv(data.data(), counts.data(), offsets.data(), MPI_INT, received.data(), counts.data(),
                offsets.data(), MPI_INT, between);
  const std::vector<MPI_Datatype> types(100, MPI_INT);
  MPI_Alltoallw(data.data(), counts.data(), offsets.data(), types.data(), received.data(),
                counts.data(), offsets.data(), types.data(), MPI_COMM_WORLD);
  MPI_Comm_free(&between);
  MPI_Comm_free(&group);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && std::strcmp(argv[1], "--time") == 0) {
    time_messages(rank);
    MPI_Finalize();
    return 0;
  }
  std::vector<int> data(1000), received(1000);
  MPI_Request request;
  // To the next rank: 10 ints, rank + 1 times.
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int i = 0; i <= rank; ++i)
    MPI_Isend(data.data(), 10, MPI_INT, next, 0, MPI_COMM_WORLD, &request),
        MPI_Request_free(&request);
  for (int i = 0; i <= previous; ++i)
    MPI_Recv(received.data(), 10, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  // In a communicator whose ranks are numbered backwards: rank 0 there, the last one, sends 7 bytes
  // to rank 1, and nobody to MPI_PROC_NULL.
  MPI_Comm backwards, copy;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  MPI_Comm_dup(backwards, &copy);
  int own = 0;
  MPI_Comm_rank(copy, &own);
  MPI_Sendrecv(data.data(), 7, MPI_BYTE, own == 0 ? 1 : MPI_PROC_NULL, 0, received.data(), 7,
               MPI_BYTE, own == 1 ? 0 : MPI_PROC_NULL, 0, copy, MPI_STATUS_IGNORE);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&backwards);
  MPI_Alltoall(data.data(), 1, MPI_INT, received.data(), 1, MPI_INT, MPI_COMM_WORLD);
  exchange_between_groups(rank);
  MPI_Finalize();
  return 0;
}
