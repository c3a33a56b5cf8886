// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Three threads on two cpus: the primary and one worker share the first. The other worker is the
// last to arrive at a barrier. After it the workers poll, without a yield, for what the primary
// does next. The primary shall soon release the others itself, so that it has a cpu by then; see
// barrier/release_choice.hpp. How often it does is in the counters.

// BUILD: clang
// NEEDS: native
// Not with OMP_WAIT_POLICY=passive: libomp's waiters then sleep although there may be tasks, in
// every barrier of its, and nobody wakes them for a task that comes later.
// TEST: primary_is_waited_for
//   CHECK: --expect "late primaries released the others themselves in [0-9][0-9][0-9]"
//   RUN: alone

#include <omp.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kNumRounds = 4000;
constexpr double kPollSeconds = 0.001;

// The cpus of this process, at most two. It keeps these only, before OpenMP's first call: OpenMP
// then takes them for the machine.
std::vector<int> keep_two_cpus() {
  cpu_set_t cpus;
  CHECK_EQUAL(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
  std::vector<int> kept;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    if (kept.size() < 2) {
      kept.push_back(cpu);
    } else {
      CPU_CLR(cpu, &cpus);
    }
  }
  CHECK_EQUAL(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
  return kept;
}

void bind_this_thread(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
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

void play_rounds(std::atomic<int>& round_done) {
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

void primary_is_waited_for() {
  const std::vector<int> cpus = keep_two_cpus();
  if (cpus.size() < 2) {
    std::printf("skipped: there is one cpu\n");
    std::exit(omp_test::kSkipped);
  }
  std::atomic<int> round_done{0};
#pragma omp parallel num_threads(3)
  {
    bind_this_thread(cpus[omp_get_thread_num() % 2]);
    play_rounds(round_done);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv, {{"primary_is_waited_for", primary_is_waited_for}});
}
