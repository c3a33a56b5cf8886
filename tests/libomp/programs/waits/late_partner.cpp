// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread that comes late finds the others asleep (under a blocktime of 0 or 1 ms; awake under
// others) and must wake all of them: every case measures how long the others stay after the last
// one came. A lost wake-up is a wait without end, so the limit can be far above what a busy machine
// needs.

// BUILD: clang
// TEST blocktime_{}: barrier barely_late join reduction fork sleeper_runs_a_task_and_sleeps_again
//   EACH: 0 1
//   ENV: KMP_BLOCKTIME={}
// TEST blocktime_1us: barrier barely_late join reduction fork sleeper_runs_a_task_and_sleeps_again
//   ENV: KMP_BLOCKTIME=1us
// TEST trees: barrier barely_late join reduction fork sleeper_runs_a_task_and_sleeps_again
//   ENV: $trees KMP_BLOCKTIME=0
// TEST lines: barrier fork
//   ENV: $lines KMP_BLOCKTIME=0

#include <omp.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr double kLimitSeconds = 5;

void sleep_ms(int duration_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(duration_ms));
}

// Runs `wait` in all threads but the late one at once, in the late one after a while, and checks
// how long the others need.
template <class Wait>
void in_a_team_with_a_late_thread(int num_threads, int late, int late_ms, Wait&& wait) {
  std::atomic<double> arrival{0};
#pragma omp parallel num_threads(num_threads)
  {
    if (omp_get_thread_num() == late) {
      sleep_ms(late_ms);
      arrival = omp_get_wtime();
    }
    wait();
    CHECK(arrival.load() != 0);
    CHECK(omp_get_wtime() - arrival.load() < kLimitSeconds);
  }
}

void barrier() {
  for (int num_threads = 2; num_threads <= 9; num_threads += num_threads < 4 ? 1 : 2) {
    for (int late : {0, 1, num_threads - 1}) {
      in_a_team_with_a_late_thread(num_threads, late, num_threads == 2 ? 300 : 50, [] {
#pragma omp barrier
      });
    }
  }
}

// Many short sleeps: whether the late thread looks for sleepers just before or just after they lie
// down is up to chance.
void barely_late() {
  for (int num_threads : {2, 3, 6}) {
#pragma omp parallel num_threads(num_threads)
    for (int round = 0; round < 300; ++round) {
      if (omp_get_thread_num() == round % num_threads) {
        std::this_thread::sleep_for(std::chrono::microseconds(round % 7 * 150));
      }
#pragma omp barrier
    }
  }
}

// Every thread in turn: leaf, leader of others, primary.
void join() {
  for (int num_threads : {2, 4, 7, 9}) {
    for (int late = 0; late < num_threads; ++late) {
      double arrival = 0;
#pragma omp parallel num_threads(num_threads)
      if (omp_get_thread_num() == late) {
        sleep_ms(10);
        arrival = omp_get_wtime();
      }
      CHECK(omp_get_wtime() - arrival < kLimitSeconds);
    }
  }
}

void reduction() {
  for (int num_threads : {5, 8}) {
    for (int late = 0; late < num_threads; ++late) {
      long sum = 0;
      double arrival = 0;
#pragma omp parallel num_threads(num_threads)
      {
        if (omp_get_thread_num() == late) {
          sleep_ms(20);
          arrival = omp_get_wtime();
        }
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < 100; ++i) sum += i;
        CHECK_EQUAL(sum, 4950);
        CHECK(omp_get_wtime() - arrival < kLimitSeconds);
      }
    }
  }
}

// All workers have gone to sleep when the next region begins.
void fork() {
  for (int num_threads : {2, 5, 9, 5}) {
    const double begin = omp_get_wtime();
    std::atomic<int> started{0};
#pragma omp parallel num_threads(num_threads)
    ++started;
    CHECK_EQUAL(started.load(), num_threads);
    CHECK(omp_get_wtime() - begin < kLimitSeconds);
    sleep_ms(60);
  }
}

// A sleeper in a barrier is woken by a task, runs it, sleeps again, and is woken a last time when
// the barrier ends. (Not under OMP_WAIT_POLICY=passive, where with any barrier it may look before
// the task is there, and sleep on.)
void sleeper_runs_a_task_and_sleeps_again() {
  for (int num_threads : {2, 3, 6}) {
    for (int round = 0; round < 3; ++round) {
      const int late = round % num_threads;
      std::atomic<int> done{0};
      in_a_team_with_a_late_thread(num_threads, late, 30, [&] {
        if (omp_get_thread_num() == late) {
          const double begin = omp_get_wtime();
#pragma omp task shared(done)
          {
            CHECK(omp_get_thread_num() != late);
            ++done;
          }
          while (done.load() == 0) {
            CHECK(omp_get_wtime() - begin < kLimitSeconds);
            sleep_ms(1);
          }
          sleep_ms(30);
#pragma omp task shared(done)
          ++done;
          sleep_ms(30);
        }
        const double begin = omp_get_wtime();
#pragma omp barrier
        CHECK_EQUAL(done.load(), 2);
        if (omp_get_thread_num() == late) CHECK(omp_get_wtime() - begin < kLimitSeconds);
      });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"barrier", barrier},
       {"barely_late", barely_late},
       {"join", join},
       {"reduction", reduction},
       {"fork", fork},
       {"sleeper_runs_a_task_and_sleeps_again", sleeper_runs_a_task_and_sleeps_again}});
}
