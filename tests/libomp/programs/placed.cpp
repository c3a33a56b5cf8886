// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prints where the threads of a team are, one line for placement_test.py:
//
//     placed [--clause N | --bind | --then N]
//     rank=1 threads=2 procs=2 max=2 cpus=0-1|0-1
//
// --then: a second region of N threads follows. --bind: the program binds itself to its first cpu
// before it uses OpenMP. `threads` is the size of the first team, `max` the default size of the
// next, `cpus` what each thread may run on.

// BUILD: clang
// BUILD: gcc
// NEEDS: native

#include <omp.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/outlive.hpp"

namespace {

std::string own_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "?";
  std::string text;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  }
  return text;
}

void bind_to_first_cpu() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  int first = 0;
  while (!CPU_ISSET(first, &set)) ++first;
  CPU_ZERO(&set);
  CPU_SET(first, &set);
  sched_setaffinity(0, sizeof set, &set);
}

const char* local_rank() {
  for (const char* name : {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK"}) {
    if (const char* value = std::getenv(name)) return value;
  }
  return "-";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--bind") == 0) bind_to_first_cpu();
  std::vector<std::string> cpus(256);
  int num_threads = 0;
  const auto note = [&] {
    cpus[static_cast<std::size_t>(omp_get_thread_num())] = own_cpus();
    if (omp_get_thread_num() == 0) num_threads = omp_get_num_threads();
  };
  if (argc == 3 && std::strcmp(argv[1], "--clause") == 0) {
#pragma omp parallel num_threads(std::atoi(argv[2]))
    note();
  } else {
#pragma omp parallel
    note();
  }
  if (argc == 3 && std::strcmp(argv[1], "--then") == 0) {
#pragma omp parallel num_threads(std::atoi(argv[2]))
    {
#pragma omp barrier
    }
  }
  std::string all;
  for (int i = 0; i < num_threads; ++i)
    all += (i == 0 ? "" : "|") + cpus[static_cast<std::size_t>(i)];
  std::printf("rank=%s threads=%d procs=%d max=%d cpus=%s\n", local_rank(), num_threads,
              omp_get_num_procs(), omp_get_max_threads(), all.c_str());
  std::fflush(stdout);
  hierbar::test::outlive_the_launch();
  return 0;
}
