// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cancellation, with OMP_CANCELLATION=true. Compiled with Clang, whose code makes plain barriers
// around it, and with GCC, whose code calls cancellable barriers. Run also without
// OMP_CANCELLATION, when nothing may be cancelled.
// cancelled_loops.cpp has loops and sections that are handed out dynamically.

// BUILD: clang
// BUILD: gcc
// TEST (clang): sections loop region_while_others_wait_in_a_barrier region_with_tasks taskgroup
//   ENV: OMP_CANCELLATION=true
//   CHECK: --counter phased>=1000 --counter fast==0
// TEST not_allowed (clang): sections loop region_while_others_wait_in_a_barrier region_with_tasks
//     taskgroup
//   CHECK: --counter fast>=1000 --counter stock==0
// TEST (gcc): loop taskgroup
//   ENV: OMP_CANCELLATION=true
//   CHECK: --counter phased>=1000
// TEST (gcc): region_while_others_wait_in_a_barrier region_with_tasks
//   ENV: OMP_CANCELLATION=true
//   CHECK: --counter phased>=1000 --counter stock>=100
// TEST not_allowed (gcc): sections loop region_while_others_wait_in_a_barrier region_with_tasks
//     taskgroup
//   CHECK: --counter fast>=1000
// TEST spincount_of_clang (clang): loop
//   ENV: GOMP_SPINCOUNT=100
//   CHECK: --reject "GOMP_SPINCOUNT=.100. has no effect: .*KMP_BLOCKTIME"

#include <omp.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kMaxThreads = 12;
constexpr int kRounds = 25;

template <class Body>
void for_every_size(Body&& body) {
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
    for (int round = 0; round < kRounds; ++round) body(num_threads, round);
  }
}

// A region of the same size after a cancelled one finds all words as it needs them.
void plain_region(int num_threads) {
  long slots[kMaxThreads] = {};
#pragma omp parallel num_threads(num_threads)
  for (long crossing = 1; crossing <= 3; ++crossing) {
    slots[omp_get_thread_num()] = crossing;
#pragma omp barrier
    for (int i = 0; i < num_threads; ++i) CHECK_EQUAL(slots[i], crossing);
#pragma omp barrier
  }
}

void loop() {
  for_every_size([](int num_threads, int round) {
    std::atomic<int> iterations{0};
    int after = 0;
#pragma omp parallel num_threads(num_threads) reduction(+ : after)
    {
#pragma omp for schedule(static, 1)
      for (int i = 0; i < 200; ++i) {
        if (i == round) {
#pragma omp cancel for
        }
        ++iterations;
#pragma omp cancellation point for
      }
#pragma omp barrier
      ++after;  // the loop is cancelled, not the region
#pragma omp for
      for (int i = 0; i < 20; ++i) ++iterations;
    }
    CHECK_EQUAL(after, num_threads);
    if (omp_get_cancellation())
      CHECK(iterations.load() >= 20 && iterations.load() <= 220);
    else
      CHECK_EQUAL(iterations.load(), 220);
    plain_region(num_threads);
  });
}

void sections() {
  for_every_size([](int num_threads, int) {
    std::atomic<int> executed{0};
    int after = 0;
#pragma omp parallel num_threads(num_threads) reduction(+ : after)
    {
#pragma omp sections
      {
#pragma omp section
        {
          ++executed;
#pragma omp cancel sections
        }
#pragma omp section
        {
#pragma omp cancellation point sections
          ++executed;
        }
#pragma omp section
        {
#pragma omp cancellation point sections
          ++executed;
        }
      }
      ++after;
    }
    CHECK_EQUAL(after, num_threads);
    CHECK(executed.load() >= 1 && executed.load() <= 3);
    plain_region(num_threads);
  });
}

// Some threads wait in a barrier when another one cancels the region: they must come out of it.
void region_while_others_wait_in_a_barrier() {
  for_every_size([](int num_threads, int round) {
    std::atomic<int> past_the_barrier{0};
#pragma omp parallel num_threads(num_threads)
    {
      if (omp_get_thread_num() == round % num_threads) {
        if (round % 2 == 1) std::this_thread::sleep_for(std::chrono::microseconds(200));
#pragma omp cancel parallel
      }
#pragma omp cancellation point parallel
#pragma omp barrier
      ++past_the_barrier;
    }
    CHECK_EQUAL(past_the_barrier.load(), omp_get_cancellation() ? 0 : num_threads);
    plain_region(num_threads);
  });
}

void region_with_tasks() {
  for_every_size([](int num_threads, int round) {
    std::atomic<int> done{0};
#pragma omp parallel num_threads(num_threads)
    {
      for (int i = 0; i < 4; ++i) {
#pragma omp task shared(done)
        ++done;
      }
      if (omp_get_thread_num() == round % num_threads) {
#pragma omp cancel parallel
      }
#pragma omp barrier
    }
    if (!omp_get_cancellation()) CHECK_EQUAL(done.load(), 4 * num_threads);
    plain_region(num_threads);
  });
}

void taskgroup() {
  for_every_size([](int num_threads, int round) {
    std::atomic<int> begun{0}, after{0};
#pragma omp parallel num_threads(num_threads)
    {
#pragma omp single
      {
#pragma omp taskgroup
        for (int i = 0; i < 50; ++i) {
#pragma omp task shared(begun) firstprivate(i)
          {
            ++begun;
            if (i == round) {
#pragma omp cancel taskgroup
            }
#pragma omp cancellation point taskgroup
          }
        }
        CHECK(begun.load() <= 50);
        if (!omp_get_cancellation()) CHECK_EQUAL(begun.load(), 50);
      }
#pragma omp barrier
      ++after;
    }
    CHECK_EQUAL(after.load(), num_threads);
    plain_region(num_threads);
  });
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"loop", loop},
       {"sections", sections},
       {"region_while_others_wait_in_a_barrier", region_while_others_wait_in_a_barrier},
       {"region_with_tasks", region_with_tasks},
       {"taskgroup", taskgroup}});
}
