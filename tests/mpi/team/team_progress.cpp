// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rank 1's thread 0 is late for a barrier of the team because it waits for rank 0's MPI library,
// while all of rank 0's threads wait in the barrier already: they have to make progress there.
// Arguments: what it waits for, and the thread level.

#include "team_test.hpp"

namespace hierbar::test {
namespace {

constexpr int kTag = 5;
constexpr int kLarge =
    8 << 20;  // bytes; by rendezvous on every transport, and more than any buffer on the way holds
constexpr int kThreads = 2;

using Barrier = std::function<void()>;

// The data of the other's pending send have to come.
void isend(bool is_late, const Barrier& barrier) {
  std::vector<char> data(kLarge, is_late ? 0 : 'x');
  MPI_Request request = MPI_REQUEST_NULL;
  if (is_late) {
    MPI_Recv(data.data(), kLarge, MPI_CHAR, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(data.front() == 'x' && data.back() == 'x');
  } else {
    MPI_Isend(data.data(), kLarge, MPI_CHAR, 1, kTag, MPI_COMM_WORLD, &request);
  }
  barrier();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// The other has to match a message with its pending receive.
void ssend(bool is_late, const Barrier& barrier) {
  int value = is_late ? 42 : 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (is_late) {
    MPI_Ssend(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD);
  } else {
    MPI_Irecv(&value, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, &request);
  }
  barrier();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(value == 42);
}

// The other's window has to be locked and written.
void lock(bool is_late, const Barrier& barrier) {
  std::vector<int> memory(1000);
  MPI_Win window;
  MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int)), sizeof(int),
                 MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  const std::vector<int> ones(memory.size(), 1);
  if (is_late) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Accumulate(ones.data(), 1000, MPI_INT, 0, 0, 1000, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(0, window);
  }
  barrier();
  if (!is_late) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    CHECK(memory.front() == 1 && memory.back() == 1);
    MPI_Win_unlock(0, window);
  }
  MPI_Win_free(&window);
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  using namespace hierbar::test;
  init_with_level(argc, argv, argc > 2 ? argv[2] : "multiple");
  const std::string what = argc > 1 ? argv[1] : "";
  CHECK(what == "isend" || what == "ssend" || what == "lock");
  hierbar_team team;
  CHECK(hierbar_team_create(MPI_COMM_WORLD, kThreads, &team) == MPI_SUCCESS);
  const bool is_late = rank_in(MPI_COMM_WORLD) == 1;
  constexpr int kRounds = 20;
  run_threads(kThreads, [&](int thread) {
    CHECK(hierbar_team_join(team, thread) == MPI_SUCCESS);
    const Barrier barrier = [&] { CHECK(hierbar_team_barrier(team, thread) == MPI_SUCCESS); };
    barrier();
    for (int round = 0; round < kRounds; ++round) {
      if (thread == 0) {
        (what == "isend" ? isend : what == "ssend" ? ssend : lock)(is_late, barrier);
      } else {
        barrier();
      }
    }
  });
  CHECK(hierbar_team_free(&team) == MPI_SUCCESS);
  MPI_Finalize();
}
