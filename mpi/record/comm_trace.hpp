// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "mpi/record/rank_trace.hpp"
#include "mpi/record/rank_tree.hpp"

namespace hierbar::mpi {

struct Pmpi;
class Recorder;

// The recorded barriers of a communicator, in one of its ranks (docs/design/reports.md#d0060).
//
// 1. record   Each rank keeps its own stamps and nothing else.
// 2. settle   After a batch of barriers the ranks exchange their stamps. The number of barriers in
//             a batch is the same in all ranks. Each rank gets the stamps of all ranks for its
//             share of the barriers, works out who arrived last, and sends this to every rank.
// 3. account  Each rank adds up its own figures.
//
// So the work and the memory for one barrier are O(1) in each rank, whatever the communicator's
// size. A batch costs two calls of MPI_Alltoall. Two barriers are left out of the statistics: the
// one after a batch, because it would measure the settling, and a communicator's first, which comes
// after its set-up.
//
// A batch begins small and grows while batches take less than a second, because what is not settled
// is lost when the program is killed.
class CommTrace {
 public:
  // `id` is the same in all ranks and different for each communicator. On `comm` the last batch is
  // settled when the world ends. It is MPI_COMM_NULL if the ranks are of several worlds, because
  // these do not end together.
  CommTrace(Recorder& recorder, std::uint64_t id, std::uint32_t me, RankTree tree,
            std::uint64_t every, MPI_Comm comm);
  ~CommTrace();
  CommTrace(const CommTrace&) = delete;
  CommTrace& operator=(const CommTrace&) = delete;

  std::uint64_t id() const { return id_; }
  MPI_Comm comm() const { return comm_; }

  // Called at each barrier: counts it, and returns whether it is to be recorded.
  bool take_next() noexcept { return num_barriers_++ % every_ == 0; }
  // The trace points for a barrier that is recorded.
  RankTrace open(const void* caller);
  bool is_full() const noexcept { return records_.size() >= batch_; }
  // Collective. Requires that at least one barrier has been recorded; all ranks have recorded as
  // many.
  void settle(const Pmpi& pmpi, MPI_Comm comm);
  bool is_empty() const noexcept { return records_.empty(); }

 private:
  struct Entry {
    Stamps stamps;
    const void* caller;
  };
  void summarise(const std::vector<Stamps>& stamps, std::size_t share,
                 std::vector<RankTree::Sight>& to_others);
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
