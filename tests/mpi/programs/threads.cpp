// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_THREAD_MULTIPLE: threads of each rank in barriers of different communicators at the same
// time. The argument is the number of rounds.

#include <thread>

#include "mpi_test.hpp"

int main(int argc, char** argv) {
  using namespace hierbar::test;
  constexpr int kThreads = 3;
  init_thread_multiple(argc, argv);
  const int num_rounds = argc > 1 ? std::atoi(argv[1]) : 300;
  std::vector<MPI_Comm> comms(kThreads);
  std::vector<Board*> boards;
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    boards.push_back(new Board(comm));
  }
  // The set-up of all three is concurrent too: their first barriers are in here.
  std::vector<std::thread> threads;
  for (Board* board : boards) {
    threads.emplace_back([board, num_rounds] {
      for (int round = 0; round < num_rounds; ++round) board->check_barrier();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (Board* board : boards) delete board;
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  MPI_Finalize();
}
