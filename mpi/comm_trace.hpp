// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "mpi/rank_trace.hpp"
#include "mpi/rank_tree.hpp"

namespace hierbar::mpi {

struct Pmpi;
class Recorder;

// The recorded barriers of a communicator, in one of its ranks.
//
//   1. record  every rank keeps its own stamps and nothing else
//   2. settle  after a batch of barriers, whose number is the same in all ranks, the ranks put their stamps together: each gets
//              those of all ranks for its share of the barriers, works out who arrived last, and tells every rank
//   3. account each rank adds its own figures up
//
// So the work and the memory for a barrier are O(1) in each rank whatever the communicator's size; a batch costs two calls of
// MPI_Alltoall. The barrier after that is left out of the statistics, since it measures it; so is a communicator's first, which
// comes after its set-up.
//
// A batch begins small and grows while batches take less than a second: what is not settled is lost when the program is killed.
class CommTrace {
 public:
  // `id` is the same in all ranks, and that of no other communicator. `comm` is where the last batch is settled when the world
  // ends; MPI_COMM_NULL if its ranks are of several worlds, which do not end together.
  CommTrace(Recorder& recorder, std::uint64_t id, std::uint32_t me, RankTree tree, std::uint64_t every, MPI_Comm comm);
  ~CommTrace();
  CommTrace(const CommTrace&) = delete;
  CommTrace& operator=(const CommTrace&) = delete;

  std::uint64_t id() const { return id_; }
  MPI_Comm comm() const { return comm_; }

  // At each barrier: whether it is to be recorded.
  bool wants_next() noexcept { return num_barriers_++ % every_ == 0; }
  // The trace points for it.
  RankTrace open(const void* caller);
  bool is_full() const noexcept { return records_.size() >= batch_; }
  // Collective, when at least one barrier has been recorded; all ranks have recorded as many.
  void settle(const Pmpi& pmpi, MPI_Comm comm);
  bool is_empty() const noexcept { return records_.empty(); }

 private:
  struct Entry {
    Stamps stamps;
    const void* caller;
  };
  void summarise(const std::vector<Stamps>& stamps, std::size_t share, std::vector<RankTree::Sight>& told);
  void account(const std::vector<RankTree::Sight>& sights, std::size_t share);
  void keep_for_time_line(const Entry& entry);
  bool is_disturbed(std::size_t episode) const noexcept;

  Recorder& recorder_;
  const std::uint64_t id_;
  const std::uint32_t me_;
  const RankTree tree_;
  const bool leads_;
  const std::uint64_t every_;
  const MPI_Comm comm_;
  std::uint64_t num_barriers_ = 0;
  std::uint64_t num_kept_ = 0;
  std::size_t batch_;
  bool is_first_batch_ = true;
  long batch_start_ns_;
  std::vector<Entry> records_;
};

}  // namespace hierbar::mpi
