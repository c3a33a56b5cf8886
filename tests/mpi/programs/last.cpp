// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rank 0 comes last to all its barriers with rank 1, and so waits in none. Its message to rank 2, who
// has no barrier, must arrive all the same. The barriers end when it has. Without progress in them they
// go on for ever.

#include <atomic>
#include <chrono>

#include "mpi_test.hpp"

namespace hierbar::test {
namespace {

constexpr int kTag = 5;
constexpr int kBytes = 2 << 20;  // by rendezvous on every transport

// What the ranks tell each other without MPI's help.
struct Shared {
  std::atomic<int> num_come;      // barriers that rank 1 has come to
  std::atomic<bool> has_arrived;  // the message
  std::atomic<int> last;          // the number of the last barrier; 0: not known
};

// Rank 1 is in the barrier by the end of that, mostly. If it is not, rank 0 waits in this barrier, and
// the test shows nothing; it does not fail.
void be_late(const Shared& shared, int number) {
  while (shared.num_come.load() < number) std::atomic_signal_fence(std::memory_order_seq_cst);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  while (std::chrono::steady_clock::now() < end) std::atomic_signal_fence(std::memory_order_seq_cst);
}

void step(Shared& shared, MPI_Comm pair, int me) {
  for (int number = 1;; ++number) {
    if (me == 0) {
      be_late(shared, number);
      if (shared.has_arrived.load()) shared.last.store(number);
    } else {
      shared.num_come.store(number);
    }
    MPI_Barrier(pair);
    if (shared.last.load() == number) return;
  }
}

void run() {
  const int me = rank_in(MPI_COMM_WORLD);
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, me == 2 ? 1 : 0, me, &pair);
  MPI_Win window;
  Shared* shared;
  MPI_Aint bytes;
  int unit;
  MPI_Win_allocate_shared(me == 0 ? sizeof(Shared) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&shared), &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, static_cast<void*>(&shared));
  if (me == 0) new (shared) Shared{};
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(pair);
  std::vector<char> data(kBytes);
  MPI_Request request = MPI_REQUEST_NULL;
  if (me == 2) {
    MPI_Recv(data.data(), kBytes, MPI_CHAR, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    shared->has_arrived.store(true);
  } else {
    if (me == 0) MPI_Isend(data.data(), kBytes, MPI_CHAR, 2, kTag, MPI_COMM_WORLD, &request);
    step(*shared, pair, me);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&pair);
  MPI_Win_free(&window);
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  hierbar::test::run();
  MPI_Finalize();
}
