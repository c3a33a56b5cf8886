// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers whose imbalance is known, for the reports. Arguments: a case; which rank is late, by how
// many ns; how many barriers.
//
//   world   barriers of MPI_COMM_WORLD
//   parts   as many on a duplicate and on communicators of two ranks, all of which are freed
//   alive   the same, none of them freed
//   abort   barriers, and then rank 1 calls MPI_Abort
//   kill    barriers, and then rank 1 kills itself while the others go on
//   hybrid  each barrier after a parallel region of two threads with one OpenMP barrier in it
//   team    barriers of all threads of all ranks, two threads in ranks of even number, else one;
//           the last thread of the rank is late
//   hybrid_team  one parallel region of two threads in each rank, in which an OpenMP barrier and
//           one of all threads of all ranks take turns
#define HIERBAR_MPI_WEAK
#include <hierbar/mpi.h>
#include <mpi.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

long now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000L + now.tv_nsec;
}

void work(long ns) {
  for (const long end = now_ns() + ns; now_ns() < end;) {
  }
}

// One call site for all cases.
[[gnu::noinline]] void run_barriers(MPI_Comm comm, int late_rank, long late_ns, int count) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < count; ++i) {
    if (rank == late_rank) work(late_ns);
    MPI_Barrier(comm);
  }
}

void run_parts(int late_rank, long late_ns, int count, bool frees) {
  int rank;
  MPI_Comm copy, pair;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
  run_barriers(copy, late_rank, late_ns, count);
  run_barriers(pair, late_rank, late_ns, count);
  if (!frees) return;
  MPI_Comm_free(&copy);
  MPI_Comm_free(&pair);
}

void run_hybrid(int late_rank, long late_ns, int count) {
  for (int i = 0; i < count; ++i) {
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
    }
    run_barriers(MPI_COMM_WORLD, late_rank, late_ns, 1);
  }
}

// One call site.
[[gnu::noinline]] void run_in_team(hierbar_team team, int thread, bool is_late, long late_ns,
                                   int count) {
  hierbar_team_join(team, thread);
  for (int i = 0; i < count; ++i) {
    if (is_late) work(late_ns);
    hierbar_team_barrier(team, thread);
  }
}

void run_team(int rank, int late_rank, long late_ns, int count) {
  const bool is_late = rank == late_rank, has_two = rank % 2 == 0;
  hierbar_team team;
  hierbar_team_create(MPI_COMM_WORLD, has_two ? 2 : 1, &team);
  std::thread second;
  if (has_two) second = std::thread(run_in_team, team, 1, is_late, late_ns, count);
  run_in_team(team, 0, is_late && !has_two, late_ns, count);
  if (has_two) second.join();
  hierbar_team_free(&team);
}

#ifdef _OPENMP
void run_hybrid_team(int rank, int late_rank, long late_ns, int count) {
  hierbar_team team;
  hierbar_team_create(MPI_COMM_WORLD, 2, &team);
#pragma omp parallel num_threads(2)
  {
    const int thread = omp_get_thread_num();
    hierbar_team_join(team, thread);
    for (int i = 0; i < count; ++i) {
#pragma omp barrier
      if (rank == late_rank && thread == 1) work(late_ns);
      hierbar_team_barrier(team, thread);
    }
  }
  hierbar_team_free(&team);
}
#else
void run_hybrid_team(int, int, long, int) { std::exit(2); }
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const char* what = argv[1];
  const int late_rank = std::atoi(argv[2]), count = std::atoi(argv[4]);
  const long late_ns = std::atol(argv[3]);
  int rank, level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (std::strcmp(what, "hybrid") == 0) {
    run_hybrid(late_rank, late_ns, count);
  } else if (std::strcmp(what, "team") == 0) {
    run_team(rank, late_rank, late_ns, count);
  } else if (std::strcmp(what, "hybrid_team") == 0) {
    run_hybrid_team(rank, late_rank, late_ns, count);
  } else {
    run_barriers(MPI_COMM_WORLD, late_rank, late_ns, count);
  }
  if (std::strcmp(what, "parts") == 0 || std::strcmp(what, "alive") == 0)
    run_parts(late_rank, late_ns, count, what[0] == 'p');
  if (std::strcmp(what, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
  if (std::strcmp(what, "kill") == 0 && rank == 1) kill(getpid(), SIGKILL);
  if (std::strcmp(what, "abort") == 0 || std::strcmp(what, "kill") == 0)
    run_barriers(MPI_COMM_WORLD, late_rank, late_ns, count);
  MPI_Finalize();
  if (rank == 0) std::printf("done\n");
}
