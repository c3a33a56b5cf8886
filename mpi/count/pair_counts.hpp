// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>

namespace hierbar::mpi {

// What this rank has sent to each rank of MPI_COMM_WORLD. Threads may add at the same time.
class PairCounts {
 public:
  explicit PairCounts(int num_ranks) : num_ranks_(num_ranks), cells_(new Cell[static_cast<std::size_t>(num_ranks)]) {}

  int num_ranks() const { return num_ranks_; }

  // Ranks outside are left out: MPI_PROC_NULL, and those of other worlds.
  void add(int rank, std::uint64_t num_bytes) {
    if (rank < 0 || rank >= num_ranks_) return;
    // Relaxed: nothing else depends on the counts, and they are read after all sends.
    cells_[rank].bytes.fetch_add(num_bytes, std::memory_order_relaxed);
    cells_[rank].messages.fetch_add(1, std::memory_order_relaxed);
  }

  void copy_to(std::uint64_t* bytes, std::uint64_t* messages) const {
    for (int i = 0; i < num_ranks_; ++i) {
      bytes[i] = cells_[i].bytes.load(std::memory_order_relaxed);
      messages[i] = cells_[i].messages.load(std::memory_order_relaxed);
    }
  }

 private:
  struct Cell {
    std::atomic<std::uint64_t> bytes = 0;
    std::atomic<std::uint64_t> messages = 0;
  };
  const int num_ranks_;
  std::unique_ptr<Cell[]> cells_;
};

// Writes two matrices of num_ranks x num_ranks numbers, in the form that parse_matrix() reads
// (network/contention/traffic_matrix.hpp). False if it could not; errno tells why.
inline bool write_matrices(const char* path, const std::uint64_t* bytes, const std::uint64_t* messages, int num_ranks) {
  FILE* file = std::fopen(path, "we");
  if (file == nullptr) return false;
  const auto write = [&](const char* heading, const std::uint64_t* cells) {
    std::fprintf(file, "%s\n", heading);
    for (int i = 0; i < num_ranks * num_ranks; ++i) {
      std::fprintf(file, "%llu%c", static_cast<unsigned long long>(cells[i]), (i + 1) % num_ranks == 0 ? '\n' : ',');
    }
  };
  write("# bytes: a line for each sender, a column for each receiver", bytes);
  write("# messages", messages);
  const bool ok = std::ferror(file) == 0;
  return std::fclose(file) == 0 && ok;
}

}  // namespace hierbar::mpi
