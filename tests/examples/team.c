/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All threads of all ranks in one barrier: each sees what the others wrote. See
 * docs/guide/hybrid.md. */
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

  /* Memory of all ranks of this node. */
  int *steps;
  MPI_Win window;
  MPI_Aint bytes;
  int unit;
  MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)sizeof(int) * kThreads * num_ranks : 0, sizeof(int),
                          MPI_INFO_NULL, MPI_COMM_WORLD, &steps, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &steps);

#pragma omp parallel num_threads(kThreads) reduction(+ : num_wrong)
  {
    const int me = omp_get_thread_num();
    num_wrong += hierbar_team_join(team, me) != MPI_SUCCESS;
    for (int step = 1; step <= kSteps; ++step) {
      steps[rank * kThreads + me] = step;
      num_wrong += hierbar_team_barrier(team, me) != MPI_SUCCESS;
      for (int i = 0; i < kThreads * num_ranks; ++i) num_wrong += steps[i] != step;
      num_wrong += hierbar_team_barrier(team, me) != MPI_SUCCESS;
    }
  }

  MPI_Win_free(&window);
  num_wrong += hierbar_team_free(&team) != MPI_SUCCESS;
  if (num_wrong != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) printf("all steps were seen\n");
  MPI_Finalize();
  return 0;
}
