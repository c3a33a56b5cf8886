// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rank is late for a barrier because it waits for another one's MPI library, while that one waits
// in the barrier already: it has to make progress there. Arguments: what it waits for, the late
// rank, the other. Or "last", for three ranks.

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>

#include "mpi_test.hpp"

namespace hierbar::test {
namespace {

constexpr int kTag = 5;
constexpr int kLarge =
    8 << 20;  // bytes; by rendezvous on every transport, and more than any buffer on the way holds

struct Roles {
  bool late, other;
  int late_rank, other_rank;
};

// The data of the other's pending send have to come.
void isend(const Roles& roles) {
  std::vector<char> data(kLarge, roles.other ? 'x' : 0);
  MPI_Request request = MPI_REQUEST_NULL;
  if (roles.other)
    MPI_Isend(data.data(), kLarge, MPI_CHAR, roles.late_rank, kTag, MPI_COMM_WORLD, &request);
  if (roles.late) {
    MPI_Recv(data.data(), kLarge, MPI_CHAR, roles.other_rank, kTag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    CHECK(data.front() == 'x' && data.back() == 'x');
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// The other has to match a message with its pending receive.
void ssend(const Roles& roles) {
  int value = roles.late ? 42 : 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (roles.other) MPI_Irecv(&value, 1, MPI_INT, roles.late_rank, kTag, MPI_COMM_WORLD, &request);
  if (roles.late) MPI_Ssend(&value, 1, MPI_INT, roles.other_rank, kTag, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (roles.other) CHECK(value == 42);
}

// The other's window has to be locked and written.
void lock(const Roles& roles) {
  std::vector<int> memory(1000);
  MPI_Win window;
  MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int)), sizeof(int),
                 MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  const std::vector<int> ones(memory.size(), 1);
  if (roles.late) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, roles.other_rank, 0, window);
    MPI_Accumulate(ones.data(), 1000, MPI_INT, roles.other_rank, 0, 1000, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(roles.other_rank, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (roles.other) {
    MPI_Win_lock(MPI_LOCK_SHARED, roles.other_rank, 0, window);
    CHECK(memory.front() == 1 && memory.back() == 1);
    MPI_Win_unlock(roles.other_rank, window);
  }
  MPI_Win_free(&window);
}

// ---- last ----
//
// Rank 0 comes last to all its barriers with rank 1, and so waits in none. Its message to rank 2,
// who has no barrier, must arrive all the same. The barriers end when it has. Without progress in
// them they go on for ever.

constexpr int kBytes = 2 << 20;  // by rendezvous on every transport

// What the ranks tell each other without MPI's help.
struct Shared {
  std::atomic<int> num_come;      // barriers that rank 1 has come to
  std::atomic<bool> has_arrived;  // the message
  std::atomic<int> last;          // the number of the last barrier; 0: not known
};

// Rank 1 is in the barrier by the end of that, mostly. If it is not, rank 0 waits in this barrier,
// and the test shows nothing; it does not fail.
void be_late(const Shared& shared, int number) {
  while (shared.num_come.load() < number) std::atomic_signal_fence(std::memory_order_seq_cst);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  while (std::chrono::steady_clock::now() < end)
    std::atomic_signal_fence(std::memory_order_seq_cst);
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

void last() {
  const int me = rank_in(MPI_COMM_WORLD);
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, me == 2 ? 1 : 0, me, &pair);
  MPI_Win window;
  Shared* shared;
  MPI_Aint bytes;
  int unit;
  MPI_Win_allocate_shared(me == 0 ? sizeof(Shared) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                          static_cast<void*>(&shared), &window);
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
  using namespace hierbar::test;
  MPI_Init(&argc, &argv);
  if (argc == 2 && std::strcmp(argv[1], "last") == 0) {
    last();
    return MPI_Finalize();
  }
  CHECK(argc == 4);
  MPI_Barrier(MPI_COMM_WORLD);  // the set-up, which makes progress by itself
  const int late_rank = std::atoi(argv[2]), other_rank = std::atoi(argv[3]),
            me = rank_in(MPI_COMM_WORLD);
  const Roles roles{me == late_rank, me == other_rank, late_rank, other_rank};
  const std::string what = argv[1];
  if (me == 0) std::printf("rank 0 is in its first round\n"), std::fflush(stdout);
  CHECK(what == "isend" || what == "ssend" || what == "lock");
  for (int round = 0; round < 20; ++round)
    (what == "isend" ? isend : what == "ssend" ? ssend : lock)(roles);
  MPI_Finalize();
}
