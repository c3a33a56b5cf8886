// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace hierbar::test {

// A failed check ends the whole program with the line that says it.
#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                  \
    }                                                                                \
  } while (false)

inline int rank_in(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}

// An intercommunicator between the ranks of even and of odd numbers in MPI_COMM_WORLD.
class EvenAndOdd {
 public:
  EvenAndOdd() {
    MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, rank_, &half_);
    MPI_Intercomm_create(half_, 0, MPI_COMM_WORLD, 1 - rank_ % 2, 3, &between_);
  }
  ~EvenAndOdd() {
    MPI_Comm_free(&between_);
    MPI_Comm_free(&half_);
  }
  EvenAndOdd(const EvenAndOdd&) = delete;
  EvenAndOdd& operator=(const EvenAndOdd&) = delete;

  MPI_Comm between() const { return between_; }
  bool is_even() const { return rank_ % 2 == 0; }
  int num_others() const {
    int number;
    MPI_Comm_remote_size(between_, &number);
    return number;
  }
  // What to give where the first rank of the even ones is the root.
  int root() const {
    if (!is_even()) return 0;
    return rank_in(half_) == 0 ? MPI_ROOT : MPI_PROC_NULL;
  }

 private:
  const int rank_ = rank_in(MPI_COMM_WORLD);
  MPI_Comm half_;
  MPI_Comm between_;
};

// MPI_Init for threads that call MPI at the same time; ends the program as skipped where the
// library has no such thing.
inline void init_thread_multiple(int& argc, char**& argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level == MPI_THREAD_MULTIPLE) return;
  std::printf("this MPI library has no MPI_THREAD_MULTIPLE\n");
  MPI_Finalize();
  std::exit(77);
}

// How many rounds a case runs: the first argument after its name.
inline int rounds(int argc, char** argv, int otherwise) {
  return argc > 2 ? std::atoi(argv[2]) : otherwise;
}

// One word per rank that all ranks of a communicator can read, whatever the shim believes about
// nodes. All of them are in one machine.
class Board {
 public:
  // Where the MPI library believes in several hosts: the words are in a file that all ranks can
  // open.
  Board(MPI_Comm comm, const char* file_name)
      : comm_(comm), size_(size_of(comm)), window_(MPI_WIN_NULL) {
    start(map(file_name));
  }
  // HIERBAR_TEST_BOARDS names a directory for such files, where hosts have no memory in common.
  explicit Board(MPI_Comm comm) : comm_(comm), size_(size_of(comm)), window_(MPI_WIN_NULL) {
    if (const char* directory = std::getenv("HIERBAR_TEST_BOARDS")) {
      start(map(new_name(directory).data()));
      return;
    }
    void* memory;
    const MPI_Aint bytes = rank_in(comm) == 0 ? static_cast<MPI_Aint>(sizeof(Word)) * size_ : 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm, &memory, &window_);
    MPI_Aint found;
    int unit;
    MPI_Win_shared_query(window_, 0, &found, &unit, &memory);
    start(memory);
  }
  // The words of a file stay until the end of the program.
  ~Board() {
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  // One barrier that is watched: afterwards everybody has arrived in it, and nobody is more than
  // one ahead.
  void check_barrier() {
    ++round_;
    words_[rank_in(comm_)].store(round_, std::memory_order_relaxed);
    MPI_Barrier(comm_);
    for (int rank = 0; rank < size_; ++rank) {
      const std::uint64_t seen = words_[rank].load(std::memory_order_relaxed);
      CHECK(seen == round_ || seen == round_ + 1);
    }
  }

 private:
  using Word = std::atomic<std::uint64_t>;

  // Rank 0's choice, which no other board has.
  std::array<char, 256> new_name(const char* directory) const {
    static std::atomic<int> num_boards{0};
    std::array<char, 256> name{};
    if (rank_in(comm_) == 0)
      std::snprintf(name.data(), name.size(), "%s/%d-%d", directory, getpid(), num_boards++);
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, comm_);
    return name;
  }

  void* map(const char* file_name) const {
    const int file = open(file_name, O_RDWR | O_CREAT, 0600);
    const std::size_t bytes = sizeof(Word) * static_cast<std::size_t>(size_);
    CHECK(file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(memory != MAP_FAILED);
    close(file);
    return memory;
  }

  void start(void* memory) {
    words_ = static_cast<Word*>(memory);
    words_[rank_in(comm_)].store(0);
    int unused = 0, sum;
    MPI_Allreduce(&unused, &sum, 1, MPI_INT, MPI_SUM, comm_);  // everybody's word is 0 from here on
  }

  MPI_Comm comm_;
  int size_;
  MPI_Win window_;
  Word* words_;
  std::uint64_t round_ = 0;
};

}  // namespace hierbar::test
