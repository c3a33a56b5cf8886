// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <hierbar/mpi.h>
#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stub_mpi.hpp"

namespace hierbar::test {

// The shim as one rank has it.
struct ShimCalls {
  decltype(&MPI_Barrier) barrier;
  decltype(&MPI_Allreduce) allreduce;
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Alltoall) alltoall;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Gather) gather;
  decltype(&MPI_Reduce) reduce;
  decltype(&MPI_Reduce_scatter_block) reduce_scatter;
  decltype(&MPI_Scatter) scatter;
  decltype(&MPI_Comm_free) comm_free;
  decltype(&MPI_Comm_disconnect) comm_disconnect;
  decltype(&MPI_Finalize) finalize;
  decltype(&MPI_Session_init) session_init;
  decltype(&MPI_Session_finalize) session_finalize;
  decltype(&MPI_Comm_dup) comm_dup;
  // MPICH has them from version 4.2 on.
  int (*threadcomm_init)(MPI_Comm, int, MPI_Comm*);
  int (*threadcomm_start)(MPI_Comm);
  int (*threadcomm_finish)(MPI_Comm);
  int (*threadcomm_free)(MPI_Comm*);
  decltype(&hierbar_team_create) team_create;
  decltype(&hierbar_team_join) team_join;
  decltype(&hierbar_team_barrier) team_barrier;
  decltype(&hierbar_team_allreduce) team_allreduce;
  decltype(&hierbar_team_bcast) team_bcast;
  decltype(&hierbar_team_free) team_free;
};

// A program of ranks that are threads: each has a copy of the shim's library with its own
// variables, as a process would, and a process of the stub. HIERBAR_VERBOSE=1,
// HIERBAR_MPI_SET_UP_AT=1, and what `settings` says.
//
// What ThreadSanitizer sees: everything that the shim does, of all ranks, and the plain memory that
// the barriers order. What it does not: whether the shim works with ranks that have nothing in
// common but the segment. The other sanitizers' ranks map the segment at addresses of their own;
// for ThreadSanitizer, which does not know that two addresses can be the same memory, they share
// one mapping.
class StubTrial {
 public:
  class Rank {
   public:
    Rank(std::shared_ptr<StubComm> world, int world_rank, int thread_level, ShimCalls library)
        : number(world_rank), process(std::move(world), world_rank, thread_level), shim(library) {}

    MPI_Comm duplicate(MPI_Comm comm);

    const int number;
    StubProcess process;
    const ShimCalls shim;
  };
  using Setting = std::pair<const char*, const char*>;

  StubTrial(int num_ranks, const std::vector<Setting>& settings = {},
            int thread_level = MPI_THREAD_MULTIPLE);
  ~StubTrial();
  StubTrial(const StubTrial&) = delete;
  StubTrial& operator=(const StubTrial&) = delete;

  int num_ranks() const { return static_cast<int>(ranks_.size()); }
  Rank& rank(int number) { return *ranks_[static_cast<std::size_t>(number)]; }

  // Every rank's thread runs the body.
  void run(const std::function<void(Rank&)>& body);
  // The shim's lines so far that contain the text.
  int times_said(const std::string& text);
  int num_library_barriers() const;
  // Messages that nobody has received, after all ranks have finalised.
  std::size_t num_left_over() const;
  // What the shim still has of MPI's, in all ranks: key values, groups, requests, error handlers.
  int num_open() const;

 private:
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<const char*> variables_;
  std::vector<std::string> said_;
};

inline constexpr StubTrial::Setting kCollectives{"HIERBAR_MPI", "collectives"};

// What the shim says at the end of the ranks' calls, which are "barriers", "allreduces" and so on.
inline std::string in_words(const char* calls, int num_ranks, int engine, const std::string& rest) {
  return std::string(calls) + " of " + std::to_string(num_ranks) + " ranks: engine " +
         std::to_string(engine) + ", " + rest;
}
inline std::string in_words(const char* calls, int num_ranks, int engine, int library) {
  return in_words(calls, num_ranks, engine, "library " + std::to_string(library));
}
inline std::string in_words(int num_ranks, int engine, const std::string& rest = "library 0") {
  return in_words("barriers", num_ranks, engine, rest);
}

}  // namespace hierbar::test
