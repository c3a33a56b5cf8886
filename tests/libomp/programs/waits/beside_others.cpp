// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread that is not OpenMP's computes on the cpu of a worker, which waits. The worker's yields
// then take slices of the scheduler, so its waits shall sleep early; see kmp_hierbar_waits.h.
// Started with OMP_PLACES={0},{1} or any two cpus.

// BUILD: clang
// TEST: sleeps_early awaits_the_barely_late sleeps_without_a_yield
//   ENV: OMP_PLACES={0},{1}
//   CHECK: --expect "others held this process's cpus.*after [1-9]"
//   RUN: alone
// TEST: obeys_the_user
//   ENV: OMP_PLACES={0},{1} KMP_BLOCKTIME=200ms
//   RUN: alone

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kNumWaits = 60;
constexpr double kLateSeconds = 0.01;
constexpr int kNumShortWaits = 20;
constexpr double kBarelyLateSeconds = 25e-6;
constexpr int kNumCrowdedWaits = 400;
constexpr int kNumCrowdedRounds = 8;

void skip(const char* reason) {
  std::printf("skipped: %s\n", reason);
  std::exit(omp_test::kSkipped);
}

void compute_on(const cpu_set_t& cpus, const std::atomic<bool>& is_over) {
  CHECK_EQUAL(pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus), 0);
  while (!is_over.load()) {
  }
}

// How often this thread has slept; a yield is no sleep.
long num_sleeps() {
  rusage usage{};
  CHECK_EQUAL(getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_nvcsw;
}

struct Sleeps {
  long in_long_waits = 0;
  long in_short_waits = 0;
};

// How often the worker sleeps: in waits of 10 ms, and in short ones, some after each of these.
Sleeps sleeps_of_a_waiting_worker() {
  cpu_set_t worker_cpus;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1)
    CHECK_EQUAL(sched_getaffinity(0, sizeof(worker_cpus), &worker_cpus), 0);
  if (CPU_COUNT(&worker_cpus) != 1) skip("the worker is not bound to one cpu");

  std::atomic<bool> is_over{false};
  std::thread other([&] { compute_on(worker_cpus, is_over); });
  Sleeps slept;
#pragma omp parallel num_threads(2)
  {
    // Returns the thread's sleeps in a barrier to which the primary comes late.
    const auto cross = [](double late_seconds) {
      const long before = num_sleeps();
      const double end = omp_get_wtime() + late_seconds;
      while (omp_get_thread_num() == 0 && omp_get_wtime() < end) {
      }
#pragma omp barrier
      return num_sleeps() - before;
    };
    Sleeps own;
    for (int i = 0; i < kNumWaits; ++i) {
      own.in_long_waits += cross(kLateSeconds);
      for (int k = 0; k < kNumShortWaits; ++k) own.in_short_waits += cross(kBarelyLateSeconds);
    }
    if (omp_get_thread_num() == 1) slept = own;
  }
  is_over = true;
  other.join();
  return slept;
}

void sleeps_early() { CHECK(sleeps_of_a_waiting_worker().in_long_waits >= kNumWaits / 3); }

// Who is not in step with the worker, but runs.
void awaits_the_barely_late() {
  const Sleeps slept = sleeps_of_a_waiting_worker();
  CHECK(slept.in_long_waits >= kNumWaits / 3);
  CHECK(slept.in_short_waits < kNumWaits * kNumShortWaits / 2);
}

struct Switches {
  long sleeps = 0;
  long others = 0;  // a yield is one
};

// Of four threads, in the later barriers of a region.
Switches switches_in_barriers() {
  std::atomic<long> sleeps{0}, others{0};
#pragma omp parallel num_threads(4)
  {
    rusage before{}, after{};
    for (int i = 0; i < kNumCrowdedWaits; ++i) {
      if (i == kNumCrowdedWaits / 4) CHECK_EQUAL(getrusage(RUSAGE_THREAD, &before), 0);
#pragma omp barrier
    }
    CHECK_EQUAL(getrusage(RUSAGE_THREAD, &after), 0);
    sleeps += after.ru_nvcsw - before.ru_nvcsw;
    others += after.ru_nivcsw - before.ru_nivcsw;
  }
  return {sleeps, others};
}

// Four threads beside somebody who computes on each cpu. A yield before each sleep would cost a
// slice each time, in every round: 3.8 to 11.6 other switches for each sleep in 48 rounds with such
// yields, 0.2 to 0.8 in 60 rounds without (EPYC, two cpus, quiet). A single round shows nothing:
// while the kernel gives each yield back at once, nobody can know that others want the cpus, and
// the waits of that time yield.
void sleeps_without_a_yield() {
  cpu_set_t cpus[2];
#pragma omp parallel num_threads(2)
  CHECK_EQUAL(sched_getaffinity(0, sizeof(cpu_set_t), &cpus[omp_get_thread_num()]), 0);
  std::atomic<bool> is_over{false};
  std::thread first([&] { compute_on(cpus[0], is_over); });
  std::thread second([&] { compute_on(cpus[1], is_over); });
  bool is_seen = false;
  for (int round = 0; round < kNumCrowdedRounds && !is_seen; ++round) {
    const Switches switches = switches_in_barriers();
    std::printf("%ld sleeps, %ld other switches\n", switches.sleeps, switches.others);
    is_seen = switches.sleeps > kNumCrowdedWaits && switches.others < switches.sleeps * 3 / 2;
  }
  is_over = true;
  first.join();
  second.join();
  CHECK(is_seen);
}

// Under a blocktime that the user chose and that is longer than the waits.
void obeys_the_user() { CHECK(sleeps_of_a_waiting_worker().in_long_waits < kNumWaits / 10); }

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv,
                            {{"sleeps_early", sleeps_early},
                             {"awaits_the_barely_late", awaits_the_barely_late},
                             {"sleeps_without_a_yield", sleeps_without_a_yield},
                             {"obeys_the_user", obeys_the_user}});
}
