// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Three threads on two cpus. A worker is the last to arrive at a barrier. After it the workers poll,
// without a yield, for what the primary does next. The primary shall soon release the others
// itself, so that it has a cpu by then; see barrier/release_choice.hpp. How often it does is in the
// counters.

#include <omp.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kNumRounds = 1000;
constexpr double kPollSeconds = 0.001;

// Before OpenMP's first call: it then takes these cpus for the machine.
void keep_two_cpus() {
  cpu_set_t cpus;
  CHECK_EQUAL(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
  int num_kept = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus) && ++num_kept > 2) CPU_CLR(cpu, &cpus);
  }
  if (num_kept < 2) {
    std::printf("skipped: there is one cpu\n");
    std::exit(omp_test::kSkipped);
  }
  CHECK_EQUAL(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

void compute_for(double seconds) {
  const double end = omp_get_wtime() + seconds;
  while (omp_get_wtime() < end) {
  }
}

void await(const std::atomic<int>& round_done, int round) {
  const double end = omp_get_wtime() + kPollSeconds;
  while (round_done.load() < round && omp_get_wtime() < end) {
  }
  while (round_done.load() < round) std::this_thread::sleep_for(std::chrono::microseconds(10));
}

void primary_is_waited_for() {
  keep_two_cpus();
  std::atomic<int> round_done{0};
#pragma omp parallel num_threads(3)
  for (int round = 1; round <= kNumRounds; ++round) {
    if (omp_get_thread_num() == 0) {
      round_done = round;
    } else {
      await(round_done, round);
    }
#pragma omp barrier
    CHECK_EQUAL(round_done.load(), round);
    if (omp_get_thread_num() == 1) compute_for(0.00002);
#pragma omp barrier
  }
}

}  // namespace

int main(int argc, char** argv) { return omp_test::run_case(argc, argv, {{"primary_is_waited_for", primary_is_waited_for}}); }
