// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread that waits for long uses no cpu, whatever it waits for. The time of all threads is taken
// while one of them sleeps and another one waits for it. Waits that polled would take all of it. So
// what is judged is the cpu time of a wait.

// BUILD: clang
// BUILD: gcc
// TEST: between_regions at_a_barrier at_a_critical_section at_a_lock at_a_nestable_lock
//     in_an_ordered_loop in_a_dynamic_ordered_loop in_a_doacross_loop for_a_long_task
//     in_a_taskgroup for_a_dependence
//   RUN: timed
// TEST passive: between_regions at_a_barrier at_a_critical_section at_a_lock at_a_nestable_lock
//     in_an_ordered_loop in_a_dynamic_ordered_loop in_a_doacross_loop for_a_long_task
//     in_a_taskgroup for_a_dependence
//   ENV: OMP_WAIT_POLICY=passive
//   RUN: timed

#include <omp.h>
#include <time.h>

#include <cstdio>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kNumWaits = 4;
constexpr double kWait = 0.1;  // seconds
// Of the time that passes. The default blocktime of 6 ms is 6 % of each wait, naps another 3 %; the
// rest is for machines on which others slow down the processor.
constexpr double kMostUsed = 0.3;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

double used() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

void sleep_long() {
  timespec length{0, static_cast<long>(kWait * 1e9)};
  while (nanosleep(&length, &length) != 0) {
  }
}

void create_threads() {
  int num_threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : num_threads)
  ++num_threads;
  CHECK_EQUAL(num_threads, 2);
}

template <class Waits>
void expect_idle(Waits waits) {
  create_threads();
  const double begin = now();
  const double used_before = used();
  waits();
  const double part = (used() - used_before) / (now() - begin);
  std::printf("used %.3f of the time\n", part);
  CHECK(part <= kMostUsed);
}

void between_regions() {
  expect_idle([] {
    for (int i = 0; i < kNumWaits; ++i) {
      create_threads();
      sleep_long();
    }
  });
}

void at_a_barrier() {
  expect_idle([] {
#pragma omp parallel num_threads(2)
    for (int i = 0; i < kNumWaits; ++i) {
#pragma omp single
      sleep_long();
    }
  });
}

void at_a_critical_section() {
  expect_idle([] {
#pragma omp parallel num_threads(2)
    for (int i = 0; i < kNumWaits; ++i) {
#pragma omp critical
      sleep_long();
    }
  });
}

void at_a_lock() {
  expect_idle([] {
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < kNumWaits; ++i) {
      omp_set_lock(&lock);
      sleep_long();
      omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
  });
}

void at_a_nestable_lock() {
  expect_idle([] {
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < kNumWaits; ++i) {
      omp_set_nest_lock(&lock);
      omp_set_nest_lock(&lock);
      sleep_long();
      omp_unset_nest_lock(&lock);
      omp_unset_nest_lock(&lock);
    }
    omp_destroy_nest_lock(&lock);
  });
}

void in_an_ordered_loop() {
  expect_idle([] {
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < kNumWaits; ++i) {
#pragma omp ordered
      sleep_long();
    }
  });
}

void in_a_dynamic_ordered_loop() {
  expect_idle([] {
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(2)
    for (int i = 0; i < kNumWaits; ++i) {
#pragma omp ordered
      sleep_long();
    }
  });
}

void in_a_doacross_loop() {
  expect_idle([] {
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(2)
    for (int i = 0; i < kNumWaits; ++i) {
#pragma omp ordered depend(sink : i - 1)
      sleep_long();
#pragma omp ordered depend(source)
    }
  });
}

void for_a_long_task() {
  expect_idle([] {
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < kNumWaits; ++i) {
#pragma omp task
      sleep_long();
#pragma omp taskwait
    }
  });
}

void in_a_taskgroup() {
  expect_idle([] {
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < kNumWaits; ++i) {
#pragma omp taskgroup
      {
#pragma omp task
        sleep_long();
      }
    }
  });
}

void for_a_dependence() {
  expect_idle([] {
    [[maybe_unused]] int value = 0;  // in depend clauses only
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < kNumWaits; ++i) {
#pragma omp task depend(out : value)
      sleep_long();
#pragma omp taskwait depend(in : value)
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv,
                            {{"between_regions", between_regions},
                             {"at_a_barrier", at_a_barrier},
                             {"at_a_critical_section", at_a_critical_section},
                             {"at_a_lock", at_a_lock},
                             {"at_a_nestable_lock", at_a_nestable_lock},
                             {"in_an_ordered_loop", in_an_ordered_loop},
                             {"in_a_dynamic_ordered_loop", in_a_dynamic_ordered_loop},
                             {"in_a_doacross_loop", in_a_doacross_loop},
                             {"for_a_long_task", for_a_long_task},
                             {"in_a_taskgroup", in_a_taskgroup},
                             {"for_a_dependence", for_a_dependence}});
}
