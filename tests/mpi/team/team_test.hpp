// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <hierbar/mpi.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "../programs/mpi_test.hpp"

namespace hierbar::test {

// MPI_Init_thread with a level by its name; ends the program as skipped where the library has only
// a lower one.
inline void init_with_level(int& argc, char**& argv, const std::string& name) {
  const int wanted = name == "single"       ? MPI_THREAD_SINGLE
                     : name == "funneled"   ? MPI_THREAD_FUNNELED
                     : name == "serialized" ? MPI_THREAD_SERIALIZED
                                            : MPI_THREAD_MULTIPLE;
  int level;
  MPI_Init_thread(&argc, &argv, wanted, &level);
  if (level >= wanted) return;
  std::printf("this MPI library has no %s\n", name.c_str());
  MPI_Finalize();
  std::exit(77);
}

// A rank's threads. Thread 0 is the caller; all of them run the body with their number.
inline void run_threads(int num_threads, const std::function<void(int)>& body) {
  std::vector<std::thread> others;
  for (int thread = 1; thread < num_threads; ++thread)
    others.emplace_back([&body, thread] { body(thread); });
  body(0);
  for (std::thread& other : others) other.join();
}

// One word for each thread of each rank, which all of them can read. All are in one machine.
class TeamBoard {
 public:
  TeamBoard(MPI_Comm comm, int num_threads) : TeamBoard(comm, num_threads, nullptr) {}
  // Where the MPI library believes in several hosts: the words are in a file that all ranks can
  // open.
  TeamBoard(MPI_Comm comm, int num_threads, const char* file_name) : window_(MPI_WIN_NULL) {
    int before = 0;
    MPI_Scan(&num_threads, &before, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allreduce(&num_threads, &size_, 1, MPI_INT, MPI_SUM, comm);
    first_ = before - num_threads;
    const std::size_t bytes = sizeof(Word) * static_cast<std::size_t>(size_);
    void* memory;
    if (file_name != nullptr) {
      const int file = open(file_name, O_RDWR | O_CREAT, 0600);
      CHECK(file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0);
      memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      CHECK(memory != MAP_FAILED);
      close(file);
    } else {
      MPI_Aint found;
      int unit;
      MPI_Win_allocate_shared(rank_in(comm) == 0 ? static_cast<MPI_Aint>(bytes) : 0, 1,
                              MPI_INFO_NULL, comm, &memory, &window_);
      MPI_Win_shared_query(window_, 0, &found, &unit, &memory);
    }
    words_ = static_cast<Word*>(memory);
    for (int thread = 0; thread < num_threads; ++thread) words_[first_ + thread].store(0);
    int unused = 0, sum;
    MPI_Allreduce(&unused, &sum, 1, MPI_INT, MPI_SUM, comm);  // every word is 0 from here on
  }
  ~TeamBoard() {
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  }
  TeamBoard(const TeamBoard&) = delete;
  TeamBoard& operator=(const TeamBoard&) = delete;

  // One barrier that is watched: afterwards everybody has arrived in it, and nobody is more than
  // one ahead.
  void check_barrier(hierbar_team team, int thread) {
    check_barrier(thread, [&] { return hierbar_team_barrier(team, thread); });
  }
  // `barrier` returns MPI's status.
  template <class Barrier>
  void check_barrier(int thread, Barrier barrier) {
    const std::uint64_t round = words_[first_ + thread].load(std::memory_order_relaxed) + 1;
    words_[first_ + thread].store(round, std::memory_order_relaxed);
    CHECK(barrier() == MPI_SUCCESS);
    for (int i = 0; i < size_; ++i) {
      const std::uint64_t seen = words_[i].load(std::memory_order_relaxed);
      CHECK(seen == round || seen == round + 1);
    }
  }

 private:
  using Word = std::atomic<std::uint64_t>;

  MPI_Win window_;
  Word* words_;
  int size_, first_;
};

}  // namespace hierbar::test
