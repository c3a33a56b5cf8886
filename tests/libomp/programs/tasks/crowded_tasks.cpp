// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Teams with tasks whose threads outnumber the cpus by far. What is judged is the time that all
// threads use, how often they sleep and how often they yield: these hardly depend on what else the
// machine does.

// BUILD: clang
// BUILD: gcc
// NEEDS: native
// TEST: many_small_tasks many_threads_at_one_task own_tasks_without_a_yield_each

#include <omp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>

#include "tests/libomp/programs/check.hpp"

thread_local long num_yields = 0;

// In place of the C library's, for the OpenMP runtime too.
extern "C" int sched_yield() noexcept {
  ++num_yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// Of all threads.
struct Usage {
  double seconds;
  long sleeps;
};

Usage usage() {
  rusage used{};
  CHECK_EQUAL(getrusage(RUSAGE_SELF, &used), 0);
  return {seconds_of(used.ru_utime) + seconds_of(used.ru_stime), used.ru_nvcsw};
}

void compute(double seconds) {
  const double end = omp_get_wtime() + seconds;
  while (omp_get_wtime() < end) {
  }
}

// All tasks are in one thread's deque, and 16 threads on two cpus want them. If they queue for the
// deque's lock, they use 0.8 to 9 s for 0.1 s of tasks; otherwise 0.14 (EPYC).
void many_small_tasks() {
  constexpr int num_regions = 5;
  constexpr int num_tasks = 20'000;
  constexpr double task_seconds = 1e-6;
  const int num_cpus = omp_get_num_procs();
  const Usage before = usage();
  for (int i = 0; i < num_regions; ++i) {
#pragma omp parallel num_threads(std::min(8 * num_cpus, 256))
#pragma omp single
    for (int task = 0; task < num_tasks; ++task) {
#pragma omp task
      compute(task_seconds);
    }
  }
  const double used = usage().seconds - before.seconds;
  const double of_tasks = num_regions * num_tasks * task_seconds;
  std::printf("used %.3f s for %.3f s of tasks\n", used, of_tasks);
  CHECK(used <= 2 * num_cpus * of_tasks);
}

// All threads but one wait in a barrier, where they nap. Each nap is at least as long as 20 µs for
// each thread on the thread's cpu, but for the first ones, which grow by a half each.
void many_threads_at_one_task() {
  constexpr int num_threads = 500;
  constexpr long task_ns = 300'000'000;
  constexpr double share_seconds = 20e-6;
  constexpr long first_naps = 40;
  Usage before{};
  double begin = 0;
#pragma omp parallel num_threads(num_threads)
  {
#pragma omp barrier
#pragma omp single
    {
      before = usage();
      begin = omp_get_wtime();
#pragma omp task
      {
        const timespec length{0, task_ns};
        nanosleep(&length, nullptr);
      }
    }
  }
  const long sleeps = usage().sleeps - before.sleeps;
  const double seconds = omp_get_wtime() - begin;
  std::printf("%ld sleeps in %.3f s\n", sleeps, seconds);
  CHECK(static_cast<double>(sleeps) <=
        omp_get_num_procs() * seconds / share_seconds + first_naps * num_threads);
}

// Each thread makes small tasks and runs nearly all of them itself. A yield for each of them, or
// for each taskwait, would be as many context switches. Others may steal from a thread, which then
// waits and yields, but not from all threads in all regions.
void own_tasks_without_a_yield_each() {
  constexpr int num_regions = 20;
  constexpr int num_waits = 50;
  constexpr int tasks_per_wait = 20;
  long least = LONG_MAX;
  for (int i = 0; i < num_regions; ++i) {
#pragma omp parallel num_threads(4 * omp_get_num_procs()) reduction(min : least)
    {
      const long before = num_yields;
      for (int wait = 0; wait < num_waits; ++wait) {
        for (int task = 0; task < tasks_per_wait; ++task) {
#pragma omp task
          compute(0);
        }
#pragma omp taskwait
      }
      least = num_yields - before;
    }
  }
  std::printf("at least %ld yields of a thread in a region\n", least);
  CHECK(least < num_waits / 2);
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv,
                            {{"many_small_tasks", many_small_tasks},
                             {"many_threads_at_one_task", many_threads_at_one_task},
                             {"own_tasks_without_a_yield_each", own_tasks_without_a_yield_each}});
}
