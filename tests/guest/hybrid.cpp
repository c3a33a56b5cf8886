// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An MPI program whose ranks are OpenMP teams. It prints which cpus every thread may use, then
// checks the barriers of both.
//
//   hybrid [episodes]
//
// For every rank it prints "rank R team N procs P": N threads of a team without clause, and P is
// omp_get_num_procs(). For every thread it prints "rank R thread T cpus LIST". With episodes, rank
// 0 also prints "barriers correct" if nobody has left a barrier before all had arrived; otherwise
// the program ends with 1.

#include <mpi.h>
#include <omp.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int rank = 0;
int num_ranks = 1;

// The cpus of the calling thread, as in /proc/self/status but without ranges.
std::string allowed_cpus() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return "unknown";
  std::string list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) list += (list.empty() ? "" : ",") + std::to_string(cpu);
  }
  return list;
}

void print_threads() {
  std::vector<std::string> cpus;
#pragma omp parallel
  {
#pragma omp single
    cpus.resize(omp_get_num_threads());
    cpus[omp_get_thread_num()] = allowed_cpus();
  }
  const std::string prefix = "rank " + std::to_string(rank);
  std::string text = prefix + " team " + std::to_string(cpus.size()) + " procs " +
                     std::to_string(omp_get_num_procs()) + "\n";
  for (std::size_t thread = 0; thread < cpus.size(); ++thread) {
    text += prefix + " thread " + std::to_string(thread) + " cpus " + cpus[thread] + "\n";
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// Each thread writes its own plain slot, crosses, reads all slots, and crosses again.
int wrong_in_team(int episodes) {
  std::vector<int> slots(omp_get_max_threads());
  int wrong = 0;
#pragma omp parallel num_threads(static_cast<int>(slots.size())) reduction(+ : wrong)
  for (int episode = 1; episode <= episodes; ++episode) {
    slots[omp_get_thread_num()] = episode;
#pragma omp barrier
    for (const int slot : slots) wrong += slot != episode;
#pragma omp barrier
  }
  return wrong;
}

// The same among ranks, in a shared window.
int wrong_among_ranks(int episodes) {
  volatile int* mine = nullptr;
  MPI_Win window;
  MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  std::vector<volatile int*> slots;
  for (int other = 0; other < num_ranks; ++other) {
    MPI_Aint size = 0;
    int unit = 0;
    volatile int* slot = nullptr;
    MPI_Win_shared_query(window, other, &size, &unit, &slot);
    slots.push_back(slot);
  }
  int wrong = 0;
  for (int episode = 1; episode <= episodes; ++episode) {
    *mine = episode;
    MPI_Barrier(MPI_COMM_WORLD);
    for (const volatile int* slot : slots) wrong += *slot != episode;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&window);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  print_threads();
  const int episodes = argc > 1 ? std::atoi(argv[1]) : 0;
  int wrong = 0;
  if (episodes > 0) {
    const int mine = wrong_in_team(episodes) + wrong_among_ranks(episodes);
    MPI_Allreduce(&mine, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf(wrong == 0 ? "barriers correct\n" : "%d slots wrong\n", wrong);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
