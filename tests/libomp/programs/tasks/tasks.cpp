// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tasks and barriers: which way a barrier goes must never change when tasks run and that they are
// done when it ends.

// BUILD: clang
// BUILD: gcc
// TEST: waiters_run_tasks producer_in_single tasks_make_tasks taskwait_before_the_barrier
//     untied_tasks task_opens_a_region priorities_and_dependences taskloop task_reductions
//     fast_and_slow_barriers_mixed
//   CHECK: --counter fast>=50 --counter slow>=100
// TEST (clang): long_task_while_others_sleep
//   ENV: KMP_BLOCKTIME=0
//   CHECK: --counter fast>=10 --counter slow>=20
// TEST trees (clang): producer_in_single tasks_make_tasks task_opens_a_region
//     fast_and_slow_barriers_mixed
//   ENV: $trees KMP_BLOCKTIME=0
//   CHECK: --counter fast>=100 --counter slow>=100

#include <omp.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kMaxThreads = 8;

void work_for(std::chrono::microseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

using omp_test::expect_done;

template <class Body>
void in_every_team(int num_rounds, Body&& body) {
  omp_test::in_every_team(2, kMaxThreads, num_rounds, body);
}

// One thread makes tasks while the other waits in the barrier already. It must run tasks, not only
// wait: the producer runs none before the other has run one in this round.
void waiters_run_tasks() {
  constexpr int kRounds = 200, kTasks = 10;
  std::atomic<int> done{0}, by_the_waiter{0}, about_to_wait{0};
#pragma omp parallel num_threads(2)
  for (int round = 0; round < kRounds; ++round) {
    const int producer = round % 2;
    if (omp_get_thread_num() == producer) {
      while (about_to_wait.load() == 0) std::this_thread::yield();
      const int before = by_the_waiter.load();
      for (int i = 0; i < kTasks; ++i) {
#pragma omp task shared(done, by_the_waiter)
        {
          if (omp_get_thread_num() != producer) ++by_the_waiter;
          while (by_the_waiter.load() == before) std::this_thread::yield();
          work_for(std::chrono::microseconds(20));
          ++done;
        }
      }
    } else {
      about_to_wait = 1;
    }
#pragma omp barrier
    CHECK_EQUAL(done.load(), kTasks * (round + 1));
    about_to_wait = 0;
#pragma omp barrier
  }
  CHECK(by_the_waiter.load() >= kRounds);
}

// The usual form: the tasks are made in a `single`, the others wait in its barrier.
void producer_in_single() {
  std::atomic<int> done{0};
  in_every_team(60, [&](int, int, int) {
#pragma omp single
    {
      done = 0;
      for (int i = 0; i < 50; ++i) {
#pragma omp task shared(done)
        ++done;
      }
    }
    CHECK_EQUAL(done.load(), 50);
#pragma omp barrier
  });
}

void tasks_make_tasks() {
  std::atomic<int> done{0};
  in_every_team(40, [&](int me, int round, int num_threads) {
    if (me == round % num_threads) {
#pragma omp task shared(done)
      for (int i = 0; i < 5; ++i) {
#pragma omp task shared(done)
        for (int j = 0; j < 5; ++j) {
#pragma omp task shared(done)
          ++done;
        }
      }
    }
    expect_done(done, 25);
  });
}

// The tasks are over before the barrier begins: nothing is left to do, whatever way it goes.
void taskwait_before_the_barrier() {
  std::atomic<int> done{0};
  in_every_team(60, [&](int me, int round, int num_threads) {
    if (round % 3 != 0 || me == 0) {
      for (int i = 0; i < 3; ++i) {
#pragma omp task shared(done)
        ++done;
      }
#pragma omp taskwait
    }
    expect_done(done, 3 * (round % 3 != 0 ? num_threads : 1));
#pragma omp barrier
  });
}

// Untied tasks may go on in another thread after they waited. Fast barriers before and after.
void untied_tasks() {
  std::atomic<int> done{0};
  in_every_team(40, [&](int, int, int) {
#pragma omp barrier
#pragma omp single nowait
    for (int i = 0; i < 8; ++i) {
#pragma omp task untied shared(done)
      {
#pragma omp task shared(done)
        ++done;
#pragma omp taskyield
#pragma omp taskwait
        ++done;
#pragma omp taskyield
        ++done;
      }
    }
    expect_done(done, 24);
  });
}

// A thread that waits in a barrier runs a task that opens a region with barriers: it is for a while
// the primary of another team.
void task_opens_a_region() {
  omp_set_max_active_levels(2);
  std::atomic<int> done{0};
  in_every_team(25, [&](int me, int round, int num_threads) {
    if (me == round % num_threads) {
      for (int i = 0; i < 4; ++i) {
#pragma omp task shared(done) firstprivate(i)
        {
          long slots[3] = {};
#pragma omp parallel num_threads(1 + i % 3)
          for (long crossing = 1; crossing <= 3; ++crossing) {
            slots[omp_get_thread_num()] = crossing;
#pragma omp barrier
            for (int k = 0; k < omp_get_num_threads(); ++k) CHECK_EQUAL(slots[k], crossing);
#pragma omp barrier
          }
          ++done;
        }
      }
    }
    expect_done(done, 4);
    CHECK_EQUAL(omp_get_thread_num(), me);
    CHECK_EQUAL(omp_get_num_threads(), num_threads);
  });
}

void priorities_and_dependences() {
  std::atomic<int> done{0};
  in_every_team(30, [&](int, int, int) {
#pragma omp single nowait
    {
      int chain = 0;
      for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inout : chain) priority(i % 4) shared(chain, done) firstprivate(i)
        {
          CHECK_EQUAL(chain, i);
          ++chain;
          ++done;
        }
      }
#pragma omp taskwait depend(in : chain)
#pragma omp task priority(9) shared(done)
      ++done;
#pragma omp taskwait
    }
    expect_done(done, 11);
  });
}

void taskloop() {
  in_every_team(30, [](int, int, int) {
    long sum = 0;
#pragma omp single
    {
#pragma omp taskloop grainsize(7) reduction(+ : sum)
      for (int i = 0; i < 200; ++i) sum += i;
      CHECK_EQUAL(sum, 19900);
    }
#pragma omp barrier
  });
}

// Reductions over tasks of the whole team: they take part in the barrier that ends the region's
// reduction.
void task_reductions() {
  for (int num_threads = 2; num_threads <= kMaxThreads; ++num_threads) {
    for (int round = 0; round < 20; ++round) {
      long sum = 0, group_sum = 0;
#pragma omp parallel num_threads(num_threads) reduction(task, + : sum)
      {
        for (int i = 0; i < 4; ++i) {
#pragma omp task in_reduction(+ : sum)
          sum += 1 + i;
        }
#pragma omp single
        {
#pragma omp taskgroup task_reduction(+ : group_sum)
          for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : group_sum)
            group_sum += i;
          }
          CHECK_EQUAL(group_sum, 45);
        }
#pragma omp barrier
      }
      CHECK_EQUAL(sum, 10 * num_threads);
    }
  }
}

// Barriers with and without tasks in all orders: the task team's two halves must stay in step.
void fast_and_slow_barriers_mixed() {
  std::atomic<int> done{0};
  in_every_team(300, [&](int me, int round, int num_threads) {
    const unsigned pattern = 0x9E3779B9U * (round + 1);
    if ((pattern >> 28) == static_cast<unsigned>(me)) {
#pragma omp task shared(done)
      ++done;
    }
#pragma omp barrier
    CHECK_EQUAL(done.load(), (pattern >> 28) < static_cast<unsigned>(num_threads) ? 1 : 0);
    if (pattern >> 27 & 1) {
#pragma omp barrier
    }
#pragma omp barrier
#pragma omp single
    done = 0;
  });
}

// A task of more than the blocktime: those who wait go to sleep, the one who runs it is the last to
// come.
void long_task_while_others_sleep() {
  std::atomic<int> done{0};
  in_every_team(3, [&](int me, int round, int num_threads) {
    if (me == round % num_threads) {
#pragma omp task shared(done)
      {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
#pragma omp task shared(done)
        ++done;
      }
    }
    expect_done(done, 1);
  });
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"waiters_run_tasks", waiters_run_tasks},
                             {"producer_in_single", producer_in_single},
                             {"tasks_make_tasks", tasks_make_tasks},
                             {"taskwait_before_the_barrier", taskwait_before_the_barrier},
                             {"untied_tasks", untied_tasks},
                             {"task_opens_a_region", task_opens_a_region},
                             {"priorities_and_dependences", priorities_and_dependences},
                             {"taskloop", taskloop},
                             {"task_reductions", task_reductions},
                             {"fast_and_slow_barriers_mixed", fast_and_slow_barriers_mixed},
                             {"long_task_while_others_sleep", long_task_while_others_sleep}});
}
