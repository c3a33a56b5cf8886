/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A sum over all threads of all ranks, in each step. See docs/guide/hybrid.md. */
#include <hierbar/mpi.h>
#include <omp.h>
#include <stdio.h>

enum { kThreads = 2, kSteps = 100 };

int main(int argc, char **argv) {
  int level, rank, num_ranks, num_wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  hierbar_team team;
  if (hierbar_team_create(MPI_COMM_WORLD, kThreads, &team) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 1);
  const int size = kThreads * num_ranks;

#pragma omp parallel num_threads(kThreads) reduction(+ : num_wrong)
  {
    const int me = omp_get_thread_num(), member = rank * kThreads + me;
    num_wrong += hierbar_team_join(team, me) != MPI_SUCCESS;
    double scale = member == 0 ? 0.5 : 0; /* known to thread 0 of rank 0 only */
    num_wrong += hierbar_team_bcast(team, me, &scale, 1, MPI_DOUBLE, 0, 0) != MPI_SUCCESS;
    for (int step = 1; step <= kSteps; ++step) {
      const double part = scale * step * (member + 1);
      double sum;
      num_wrong +=
          hierbar_team_allreduce(team, me, &part, &sum, 1, MPI_DOUBLE, MPI_SUM) != MPI_SUCCESS;
      num_wrong += sum != 0.5 * step * size * (size + 1) / 2;
    }
  }

  num_wrong += hierbar_team_free(&team) != MPI_SUCCESS;
  if (num_wrong != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) printf("all sums were right\n");
  MPI_Finalize();
  return 0;
}
