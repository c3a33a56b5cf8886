// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cancelled loops, sections and taskloops, with OMP_CANCELLATION=true; for Clang and GCC. There are
// more of them in turn than libomp has buffers for, so each must give its buffer back; and a region
// may be cancelled while a loop in it is.

// BUILD: clang
// BUILD: gcc
// TEST: dynamic_loops long_loops_end_at_once sections taskloops loop_and_region_at_once
//     region_just_after_a_barrier unfinished_loops loops_after_others_left inner_regions
//   ENV: OMP_CANCELLATION=true

#include <omp.h>

#include <atomic>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kMaxThreads = 5;

void dynamic_loops() {
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
    std::atomic<int> entered{0}, complete{0};
#pragma omp parallel num_threads(num_threads)
    for (int round = 0; round < 40; ++round) {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 1000; ++i) {
        ++entered;
#pragma omp cancel for if (i == 3)
#pragma omp cancellation point for
      }
#pragma omp for schedule(guided)
      for (unsigned long long i = 100; i > 0; --i) {
        ++entered;
#pragma omp cancel for
      }
#pragma omp for schedule(dynamic, 2)
      for (int i = 0; i < 10; ++i) ++complete;  // not cancelled
    }
    CHECK(entered.load() >= 40 * 5 && entered.load() < 40 * 1100);
    CHECK_EQUAL(complete.load(), 400);
  }
}

void long_loops_end_at_once() {
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 10; ++round) {
#pragma omp for schedule(dynamic)
    for (long i = 0; i < 4'000'000'000'000; ++i) {
#pragma omp cancel for
    }
  }
}

void sections() {
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
    std::atomic<int> executed{0};
#pragma omp parallel num_threads(num_threads)
    for (int round = 0; round < 40; ++round) {
#pragma omp sections
      {
#pragma omp section
        {
          ++executed;
#pragma omp cancel sections
        }
#pragma omp section
        {
          ++executed;
#pragma omp cancellation point sections
        }
#pragma omp section
        ++executed;
      }
    }
    CHECK(executed.load() >= 40 && executed.load() <= 120);
  }
}

// Some threads cancel a loop, others the region; all must leave, and the next region must find its
// buffers.
void loop_and_region_at_once() {
  for (int round = 0; round < 200; ++round) {
    const int num_threads = 2 + round % (kMaxThreads - 1);
    std::atomic<int> after{0}, complete{0};
#pragma omp parallel num_threads(num_threads)
    {
      if (omp_get_thread_num() % 2 == 1) {
#pragma omp cancel parallel
      }
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 100; ++i) {
#pragma omp cancel for
      }
      ++after;  // nobody: the odd ones have left, and the others wait for them
    }
    CHECK_EQUAL(after.load(), 0);
#pragma omp parallel for num_threads(num_threads) schedule(dynamic)
    for (int i = 0; i < 100; ++i) ++complete;
    CHECK_EQUAL(complete.load(), 100);
  }
}

// A thread that is slow to leave a barrier must not take a request that a faster one made after it
// for one from before.
void region_just_after_a_barrier() {
  for (int round = 0; round < 500; ++round) {
    const int num_threads = 2 + round % (kMaxThreads - 1);
    std::atomic<int> before{0}, after{0};
#pragma omp parallel num_threads(num_threads)
    {
      ++before;
#pragma omp barrier
      if (omp_get_thread_num() == round % num_threads) {
#pragma omp cancel parallel
      }
#pragma omp barrier
      ++after;
    }
    CHECK_EQUAL(before.load(), num_threads);
    CHECK_EQUAL(after.load(), 0);
  }
}

// The region is cancelled before all of its threads have come to a loop. The next loops must have
// all their iterations.
template <class T>
void leave_unfinished(int num_threads) {
  std::atomic<int> entered{0};
#pragma omp parallel num_threads(num_threads)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
    }
#pragma omp for schedule(nonmonotonic : dynamic) nowait
    for (T i = 0; i < 1000; ++i) ++entered;
#pragma omp barrier
  }
  CHECK(entered.load() <= 1000);
  std::atomic<int> complete{0};
#pragma omp parallel num_threads(num_threads)
  for (int loop = 0; loop < 8; ++loop) {
#pragma omp for schedule(nonmonotonic : dynamic)
    for (T i = 0; i < 50; ++i) ++complete;
  }
  CHECK_EQUAL(complete.load(), 8 * 50);
}

void unfinished_loops() {
  for (int round = 0; round < 200; ++round) {
    leave_unfinished<int>(2 + round % (kMaxThreads - 1));
    leave_unfinished<long>(2 + round % (kMaxThreads - 1));
  }
}

// Some threads leave the region before its loops. The others have all iterations to themselves, of
// more loops than there are buffers, which the missing ones never give back.
template <class T>
void loops_without(int num_threads, int num_leavers) {
  constexpr int kRounds = 12;
  std::atomic<int> entered{0};
#pragma omp parallel num_threads(num_threads)
  {
    if (omp_get_thread_num() >= num_threads - num_leavers) {
#pragma omp cancel parallel
    }
    for (int round = 0; round < kRounds; ++round) {
#pragma omp for schedule(nonmonotonic : dynamic) nowait
      for (T i = 0; i < 50; ++i) ++entered;
#pragma omp for schedule(monotonic : dynamic, 3) nowait
      for (T i = 50; i > 0; --i) ++entered;
#pragma omp for schedule(guided) nowait
      for (T i = 0; i < 50; ++i) ++entered;
#pragma omp sections nowait
      {
#pragma omp section
        ++entered;
#pragma omp section
        ++entered;
      }
    }
#pragma omp barrier
  }
  CHECK(entered.load() <= kRounds * 152);
  CHECK(entered.load() >= kRounds * 150);
  std::atomic<int> complete{0};
#pragma omp parallel num_threads(num_threads)
  for (int loop = 0; loop < 20; ++loop) {
#pragma omp for schedule(nonmonotonic : dynamic) nowait
    for (T i = 0; i < 50; ++i) ++complete;
  }
  CHECK_EQUAL(complete.load(), 20 * 50);
}

void loops_after_others_left() {
  for (int round = 0; round < 100; ++round) {
    const int num_threads = 2 + round % (kMaxThreads - 1);
    loops_without<int>(num_threads, 1 + round % (num_threads - 1));
    loops_without<long>(num_threads, 1 + round % (num_threads - 1));
  }
}

// Inner teams, which give their threads back after each region and have others of another number in
// the next one.
void inner_regions() {
  omp_set_max_active_levels(2);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> before{0}, after{0}, complete{0}, arrived[2]{};
#pragma omp parallel num_threads(2)
    for (int region = 0; region < 4; ++region) {
#pragma omp parallel num_threads(2 + (round + region) % (kMaxThreads - 1))
      {
        ++before;
        if (omp_get_thread_num() == 1) {
#pragma omp cancel parallel
        }
#pragma omp barrier
        ++after;  // nobody
      }
#pragma omp barrier
#pragma omp parallel num_threads(2 + round % (kMaxThreads - 1))
      {
        ++arrived[omp_get_ancestor_thread_num(1)];
#pragma omp barrier
        if (arrived[omp_get_ancestor_thread_num(1)].load() == omp_get_num_threads() * (region + 1))
          ++complete;
#pragma omp barrier
      }
    }
    CHECK(before.load() >= 16);
    CHECK_EQUAL(after.load(), 0);
    CHECK_EQUAL(complete.load(), 8 * (2 + round % (kMaxThreads - 1)));
  }
}

// More iterations than are handed out at once, so that tasks make tasks; those are cancelled too.
void taskloops() {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> executed{0}, after{0};
#pragma omp parallel num_threads(1 + round % kMaxThreads)
#pragma omp single
    {
#pragma omp taskloop grainsize(1)
      for (int i = 0; i < 1000; ++i) {
        ++executed;
#pragma omp cancel taskgroup
      }
#pragma omp taskloop num_tasks(300)
      for (int i = 0; i < 300; ++i) ++after;
    }
    CHECK(executed.load() >= 1 && executed.load() < 1000);
    CHECK_EQUAL(after.load(), 300);
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  CHECK(omp_get_cancellation());
  return omp_test::run_case(argc, argv,
                            {{"dynamic_loops", dynamic_loops},
                             {"long_loops_end_at_once", long_loops_end_at_once},
                             {"sections", sections},
                             {"loop_and_region_at_once", loop_and_region_at_once},
                             {"region_just_after_a_barrier", region_just_after_a_barrier},
                             {"unfinished_loops", unfinished_loops},
                             {"loops_after_others_left", loops_after_others_left},
                             {"inner_regions", inner_regions},
                             {"taskloops", taskloops}});
}
