// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Started in a control group that leaves the process the time of one cpu: two threads of which one
// computes while the other waits. What the waiter takes is missing to the one that computes.

// BUILD: clang
// BUILD: gcc

#include <omp.h>
#include <time.h>

#include <cstdio>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kNumTimes = 40;
constexpr double kWork = 0.01;  // seconds of cpu time, each time
// Of the time that the work takes. A waiter that polls takes as much again.
constexpr double kMostUsed = 1.5;

double time_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

void work() {
  const double end = time_of(CLOCK_THREAD_CPUTIME_ID) + kWork;
  while (time_of(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

template <class Run>
void expect_little_use(Run run) {
#pragma omp parallel num_threads(2)
  CHECK_EQUAL(omp_get_num_threads(), 2);
  const double before = time_of(CLOCK_PROCESS_CPUTIME_ID);
  run();
  const double used = (time_of(CLOCK_PROCESS_CPUTIME_ID) - before) / (kNumTimes * kWork);
  std::printf("used %.2f of the work's time\n", used);
  CHECK(used <= kMostUsed);
}

void between_regions() {
  expect_little_use([] {
    for (int i = 0; i < kNumTimes; ++i) {
#pragma omp parallel num_threads(2)
      CHECK_EQUAL(omp_get_num_threads(), 2);
      work();
    }
  });
}

void at_barriers() {
  expect_little_use([] {
#pragma omp parallel num_threads(2)
    for (int i = 0; i < kNumTimes; ++i) {
      if (omp_get_thread_num() == i % 2) work();
#pragma omp barrier
    }
  });
}

void at_critical_sections() {
  expect_little_use([] {
#pragma omp parallel for schedule(static, 1) num_threads(2)
    for (int i = 0; i < kNumTimes; ++i) {
#pragma omp critical
      work();
    }
  });
}

void in_ordered_loops() {
  expect_little_use([] {
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < kNumTimes; ++i) {
#pragma omp ordered
      work();
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv,
                            {{"between_regions", between_regions},
                             {"at_barriers", at_barriers},
                             {"at_critical_sections", at_critical_sections},
                             {"in_ordered_loops", in_ordered_loops}});
}
