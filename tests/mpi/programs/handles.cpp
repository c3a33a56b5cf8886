// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A communicator is freed by one thread and its handle given out again, while another thread has
// been in a barrier of the first one only. The two differ in size, so that what is known of the
// first is wrong for the second. The argument is the number of rounds.

#include <semaphore>
#include <thread>

#include "mpi_test.hpp"

int main(int argc, char** argv) {
  using namespace hierbar::test;
  init_thread_multiple(argc, argv);
  const int num_rounds = argc > 1 ? std::atoi(argv[1]) : 300;
  MPI_Comm comm = MPI_COMM_NULL;
  std::binary_semaphore made{0}, used{0};
  std::thread user([&] {
    for (int round = 0; round < num_rounds; ++round) {
      made.acquire();
      for (int i = 0; i < 2; ++i) MPI_Barrier(comm);
      used.release();
    }
  });
  int num_reused = 0;
  for (int round = 0; round < num_rounds; ++round) {
    const MPI_Comm last = comm;
    if (round > 0) MPI_Comm_free(&comm);
    MPI_Comm_dup(round % 2 == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF, &comm);
    num_reused += comm == last ? 1 : 0;
    made.release();
    used.acquire();
  }
  user.join();
  CHECK(num_reused >= num_rounds / 2);
  MPI_Comm_free(&comm);
  MPI_Finalize();
}
