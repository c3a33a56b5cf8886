// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Communicators that live for a few barriers, and one barrier of the world. Arguments: a case and a
// number.
//
//   oracle N   One communicator with N barriers, each of which is watched.
//   flat N     N communicators with one barrier each, and N with nine: no memory is used that the
//              first tenth of them has not used.
//   late N     The highest rank comes 2.2 s late to the barrier number N of a communicator.

#include <sched.h>

#include <cstring>

#include "mpi_test.hpp"

namespace hierbar::test {
namespace {

MPI_Comm copy_of_world() {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  return copy;
}

void oracle(int num_barriers) {
  MPI_Comm copy = copy_of_world();
  {
    Board board(copy);
    for (int i = 0; i < num_barriers; ++i) board.check_barrier();
  }
  MPI_Comm_free(&copy);
}

// The memory of this process, with the segment's pages that it has used.
long resident_kib() {
  long pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  CHECK(std::fscanf(file, "%ld %ld", &pages, &resident) == 2);
  std::fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

void flat(int num_comms) {
  constexpr long kNoise_kib = 512;
  for (const int uses : {1, 9}) {
    long before = 0;
    for (int i = 0; i < num_comms; ++i) {
      if (i == num_comms / 10) before = resident_kib();
      MPI_Comm copy = copy_of_world();
      for (int use = 0; use < uses; ++use) MPI_Barrier(copy);
      MPI_Comm_free(&copy);
    }
    const long grown = resident_kib() - before;
    if (grown > kNoise_kib)
      std::printf("%ld KiB more after %d communicators of %d barriers\n", grown, num_comms, uses);
    CHECK(grown <= kNoise_kib);
  }
}

void late(int number) {
  MPI_Comm copy = copy_of_world();
  for (int i = 1; i < number; ++i) MPI_Barrier(copy);
  const double start = MPI_Wtime();
  while (rank_in(copy) == size_of(copy) - 1 && MPI_Wtime() - start < 2.2) sched_yield();
  MPI_Barrier(copy);
  MPI_Comm_free(&copy);
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  using namespace hierbar::test;
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  const int number = std::atoi(argv[2]);
  if (std::strcmp(argv[1], "oracle") == 0) oracle(number);
  if (std::strcmp(argv[1], "flat") == 0) flat(number);
  if (std::strcmp(argv[1], "late") == 0) late(number);
  MPI_Finalize();
}
