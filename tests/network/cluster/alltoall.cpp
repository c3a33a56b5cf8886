// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// alltoall BYTES REPETITIONS: paper P3's blocked all-to-all among all ranks, all messages of a rank
// at once. Rank 0 prints the seconds of each repetition: those of the slowest rank.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int num_bytes = argc > 1 ? std::atoi(argv[1]) : 1;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 1;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<char> out(static_cast<std::size_t>(num_bytes) * static_cast<std::size_t>(size), 1),
      in(out);
  std::vector<MPI_Request> requests;
  // In the one before the first, ranks are connected.
  for (int repetition = -1; repetition < repetitions; ++repetition) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    requests.clear();
    for (int i = 1; i < size; ++i) {
      const int from = (rank + i) % size;
      MPI_Irecv(&in[static_cast<std::size_t>(from) * static_cast<std::size_t>(num_bytes)],
                num_bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &requests.emplace_back());
    }
    for (int i = 1; i < size; ++i) {
      const int to = (rank - i + size) % size;
      MPI_Isend(&out[static_cast<std::size_t>(to) * static_cast<std::size_t>(num_bytes)], num_bytes,
                MPI_BYTE, to, 0, MPI_COMM_WORLD, &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    double own = MPI_Wtime() - start, slowest = 0;
    MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && repetition >= 0) std::printf("%.6f\n", slowest);
  }
  MPI_Finalize();
}
