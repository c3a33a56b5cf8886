// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In each round, rank 0 fills its whole buffer with messages to rank 1, who receives them all, and
// a barrier follows. So each round must find the buffer empty.

#include "mpi_test.hpp"

int main(int argc, char** argv) {
  using namespace hierbar::test;
  MPI_Init(&argc, &argv);
  // By rendezvous: Open MPI does not buffer shorter messages.
  constexpr int kMessages = 32, kBytes = 16 << 10;
  std::vector<char> buffer(kMessages * (kBytes + MPI_BSEND_OVERHEAD)), message(kBytes);
  const int me = rank_in(MPI_COMM_WORLD);
  if (me == 0) MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
  for (int round = 0; round < 200; ++round) {
    for (int tag = 0; tag < kMessages && me <= 1; ++tag) {
      if (me == 0) {
        MPI_Bsend(message.data(), kBytes, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
      } else {
        MPI_Recv(message.data(), kBytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int size = 0;
  void* detached = nullptr;
  if (me == 0) MPI_Buffer_detach(static_cast<void*>(&detached), &size);
  MPI_Finalize();
}
