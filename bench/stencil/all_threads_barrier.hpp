// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#define HIERBAR_MPI_WEAK  // stencil_bench preloads the library
#include <hierbar/mpi.h>
#include <mpi.h>
#include <omp.h>

#include <cstdio>

namespace hierbar::bench::stencil {

// A barrier of all threads of all ranks: hierbar's, or an OpenMP barrier, MPI_Barrier in the
// primary, and an OpenMP barrier.
class AllThreadsBarrier {
 public:
  // Collective, outside of parallel regions.
  explicit AllThreadsBarrier(bool is_hybrid) {
    if (!is_hybrid) return;
    if (hierbar_team_create == nullptr) {
      std::fprintf(stderr, "stencil_worker: hybrid: libhierbar_mpi.so is not preloaded\n");
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    check(hierbar_team_create(MPI_COMM_WORLD, omp_get_max_threads(), &team_));
  }
  ~AllThreadsBarrier() {
    if (team_ != HIERBAR_TEAM_NULL) check(hierbar_team_free(&team_));
  }
  AllThreadsBarrier(const AllThreadsBarrier&) = delete;
  AllThreadsBarrier& operator=(const AllThreadsBarrier&) = delete;

  // By each thread of a parallel region, before it crosses.
  void join() {
    if (team_ != HIERBAR_TEAM_NULL) check(hierbar_team_join(team_, omp_get_thread_num()));
  }
  void cross() {
    if (team_ != HIERBAR_TEAM_NULL) {
      check(hierbar_team_barrier(team_, omp_get_thread_num()));
      return;
    }
#pragma omp barrier
#pragma omp master
    MPI_Barrier(MPI_COMM_WORLD);
#pragma omp barrier
  }

 private:
  static void check(int error) {
    if (error != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);  // the library has explained it
  }

  hierbar_team team_ = HIERBAR_TEAM_NULL;
};

}  // namespace hierbar::bench::stencil
