// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Waits of tasks that LLVM's libomp never ends, because it looks at one task of a deque only, and
// barriers that it ends while a task is left. runtime/libomp/UPSTREAM.md describes the causes.
//
// A thread that waits in a tied task may only run descendants of that task, so what lies in front
// of these in a deque must not hide them.

// BUILD: clang
// TEST: completion_above_a_child untied_tasks_child_above_a_child children_of_the_same_priority
//     children_of_a_lower_priority exclusive_tasks exclusive_tasks_of_a_priority
//   ENV: OMP_MAX_TASK_PRIORITY=5
// TEST stock_pattern: completion_above_a_child untied_tasks_child_above_a_child
//     children_of_the_same_priority children_of_a_lower_priority exclusive_tasks
//     exclusive_tasks_of_a_priority
//   ENV: KMP_BARRIER OMP_MAX_TASK_PRIORITY=5

#include <omp.h>

#include <atomic>
#include <optional>
#include <thread>

#include "detached.hpp"
#include "tests/libomp/programs/check.hpp"

namespace {

void wait_until(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

// The completion of a detached task comes into the deque of a thread that waits for a task below
// it. The other thread waits for what depends on the detached task.
void completion_above_a_child() {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> done{0};
    std::atomic<bool> has_begun{false};
    std::optional<omp_test::LateFulfilment> fulfilment;
    [[maybe_unused]] char variable;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
      omp_event_handle_t event;
#pragma omp task depend(out : variable) detach(event) shared(fulfilment, has_begun)
      {
        fulfilment.emplace(event);
        has_begun = true;
      }
#pragma omp task depend(in : variable) shared(done)
      ++done;
#pragma omp taskwait
      CHECK(done >= 1);
    } else {
#pragma omp task if (0) shared(done, has_begun, fulfilment)
      {
        bool child_is_done = false;
#pragma omp task shared(done, child_is_done)
        {
          child_is_done = true;
          ++done;
        }
        wait_until(has_begun);
        fulfilment->await();
#pragma omp taskwait
        CHECK(child_is_done);
      }
    }
    CHECK_EQUAL(done.load(), 2);
  }
}

// A thread that waits for a child runs an untied task meanwhile, which the other thread has made.
// The untied task's child comes into the deque above the child that the thread waits for. The other
// thread runs no task.
void untied_tasks_child_above_a_child() {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> done{0};
    std::atomic<bool> has_child{false}, has_untied{false}, has_waited{false};
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
#pragma omp task if (0) shared(done, has_child, has_untied, has_waited)
      {
        bool child_is_done = false;
#pragma omp task shared(done, child_is_done)
        {
          child_is_done = true;
          ++done;
        }
        has_child = true;
        wait_until(has_untied);
#pragma omp taskwait
        CHECK(child_is_done);
        has_waited = true;
      }
    } else {
      wait_until(has_child);
#pragma omp task untied priority(1) shared(done)
      {
#pragma omp task shared(done)
        ++done;
      }
      has_untied = true;
      wait_until(has_waited);
    }
    CHECK_EQUAL(done.load(), 2);
  }
}

// Two threads wait, each in a task for a child of it. In the list of tasks with the outer priority
// lies what neither may run now.
void wait_for_priority(int outer, int inner) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> done{0}, num_inside{0};
#pragma omp parallel num_threads(2)
    {
#pragma omp task if (0) shared(done, num_inside)
      {
#pragma omp task priority(outer) shared(done, num_inside)
        {
          ++num_inside;
          while (num_inside < 2) std::this_thread::yield();
#pragma omp task priority(inner) shared(done)
          ++done;
#pragma omp taskwait
        }
#pragma omp task priority(outer) shared(done)
        ++done;
#pragma omp taskwait
      }
    }
    CHECK_EQUAL(done.load(), 4);
  }
}
void children_of_the_same_priority() { wait_for_priority(2, 2); }
void children_of_a_lower_priority() { wait_for_priority(2, 1); }

// Tasks that exclude each other, whose parent ends before them: nothing but the team's tasks holds
// the barrier.
void exclusive(int priority) {
  for (int round = 0; round < 3000; ++round) {
    constexpr int kNumTasks = 6;
    std::atomic<int> done{0};
    [[maybe_unused]] char variable;
#pragma omp parallel num_threads(3)
    {
#pragma omp single nowait
      {
#pragma omp task shared(done, variable)
        for (int i = 0; i < kNumTasks; ++i) {
#pragma omp task priority(priority) depend(mutexinoutset : variable) shared(done)
          ++done;
        }
      }
#pragma omp barrier
      CHECK_EQUAL(done.load(), kNumTasks);
    }
  }
}
void exclusive_tasks() { exclusive(0); }
void exclusive_tasks_of_a_priority() { exclusive(1); }

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"completion_above_a_child", completion_above_a_child},
                             {"untied_tasks_child_above_a_child", untied_tasks_child_above_a_child},
                             {"children_of_the_same_priority", children_of_the_same_priority},
                             {"children_of_a_lower_priority", children_of_a_lower_priority},
                             {"exclusive_tasks", exclusive_tasks},
                             {"exclusive_tasks_of_a_priority", exclusive_tasks_of_a_priority}});
}
