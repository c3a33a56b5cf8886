// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_THREAD_MULTIPLE: threads of each rank in barriers of different communicators at the same
// time.
//
//   threads own NUMBER      each thread has a communicator of all ranks; NUMBER rounds
//   threads set_up NUMBER   the same, but the main thread has the first barriers of all of them
//   threads groups NUMBER   each thread makes a communicator of some ranks, and one of all, for
//                           each round; the main thread has made one before
//   threads many NUMBER     NUMBER communicators of all ranks, all alive at once; the main thread
//                           has the first barriers, then each thread those of some of them
//   threads past NUMBER     so many, one after the other, freed by PMPI_Comm_free
//   threads handles NUMBER  NUMBER times a communicator is freed by one thread and its handle given
//                           out again, while another thread has been in a barrier of the first one
//                           only. The two differ in size, so that what is known of the first is
//                           wrong for the second

#include <semaphore>
#include <string>
#include <thread>

#include "mpi_test.hpp"

namespace {

using namespace hierbar::test;

constexpr int kThreads = 4;

void barriers_of_own(bool is_set_up, int num_rounds) {
  std::vector<MPI_Comm> comms(kThreads);
  std::vector<Board*> boards;
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    boards.push_back(new Board(comm));
  }
  if (is_set_up) {
    for (Board* board : boards) board->check_barrier();
  }
  // Otherwise the set-up of all of them is concurrent too: their first barriers are in here.
  std::vector<std::thread> threads;
  for (Board* board : boards) {
    threads.emplace_back([board, num_rounds] {
      for (int round = 0; round < num_rounds; ++round) board->check_barrier();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (Board* board : boards) delete board;
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void barrier_of(MPI_Group group, int tag) {
  if (int rank; MPI_Group_rank(group, &rank), rank == MPI_UNDEFINED) return;
  MPI_Comm comm;
  MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
}

// Threads do not wait for each other, so any of them may still be among the ranks of the smaller
// communicator when another rank's is at the larger one.
void barriers_of_groups(int num_rounds) {
  MPI_Group all, some;
  int ranks[1][3] = {{0, size_of(MPI_COMM_WORLD) / 2, 1}};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_range_incl(all, 1, ranks, &some);
  barrier_of(some, kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([=] {
      for (int round = 0; round < num_rounds; ++round) {
        barrier_of(some, thread);
        barrier_of(all, thread);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  MPI_Group_free(&some);
  MPI_Group_free(&all);
}

// What each thread of each rank has come to, in memory that all ranks share.
class Rounds {
 public:
  explicit Rounds(MPI_Comm comm) : rank_(rank_in(comm)), size_(size_of(comm)) {
    const MPI_Aint bytes = rank_ == 0 ? static_cast<MPI_Aint>(sizeof(Word)) * kThreads * size_ : 0;
    void* memory;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm, &memory, &window_);
    MPI_Aint found;
    int unit;
    MPI_Win_shared_query(window_, 0, &found, &unit, &memory);
    words_ = static_cast<Word*>(memory);
    for (int thread = 0; thread < kThreads; ++thread) word(thread, rank_).store(0);
    PMPI_Barrier(comm);
  }
  ~Rounds() { MPI_Win_free(&window_); }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  // A barrier of a thread that has come to `round` of its own.
  void check_barrier(MPI_Comm comm, int thread, int round) {
    word(thread, rank_).store(round, std::memory_order_relaxed);
    MPI_Barrier(comm);
    for (int rank = 0; rank < size_; ++rank) {
      const int seen = word(thread, rank).load(std::memory_order_relaxed);
      CHECK(seen == round || seen == round + 1);
    }
  }

 private:
  using Word = std::atomic<int>;
  Word& word(int thread, int rank) { return words_[thread * size_ + rank]; }

  int rank_, size_;
  MPI_Win window_;
  Word* words_;
};

void barriers_of_many(int num_comms) {
  Rounds rounds(MPI_COMM_WORLD);
  std::vector<MPI_Comm> comms(num_comms);
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
  }
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      int round = 0;
      for (int pass = 0; pass < 3; ++pass) {
        for (int i = thread; i < num_comms; i += kThreads)
          rounds.check_barrier(comms[i], thread, ++round);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void barriers_of_freed(int num_comms) {
  for (int i = 0; i < num_comms; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int j = 0; j < 2; ++j) MPI_Barrier(comm);
    PMPI_Comm_free(&comm);
  }
}

void barriers_by_one_handle(int num_rounds) {
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
}

}  // namespace

int main(int argc, char** argv) {
  init_thread_multiple(argc, argv);
  const std::string what = argc > 1 ? argv[1] : "";
  CHECK(what == "own" || what == "set_up" || what == "groups" || what == "many" || what == "past" ||
        what == "handles");
  if (what == "handles") {
    barriers_by_one_handle(rounds(argc, argv, 300));
  } else if (what == "many") {
    barriers_of_many(rounds(argc, argv, 100));
  } else if (what == "past") {
    barriers_of_freed(rounds(argc, argv, 100));
  } else if (what == "groups") {
    barriers_of_groups(rounds(argc, argv, 100));
  } else {
    barriers_of_own(what == "set_up", rounds(argc, argv, 300));
  }
  MPI_Finalize();
}
