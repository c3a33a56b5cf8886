// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Faults of libomp in detached tasks that only show when threads meet at certain instructions, or
// in rare constellations. runtime/libomp/UPSTREAM.md describes them.

// BUILD: clang
// With and without our barrier: what they show is in every pattern.
// TEST: freed_task_is_not_written_by_one_thread freed_task_is_not_written_by_two_threads
//     loop_of_tasks_beside_a_detached_one task_behind_a_completion_in_the_deque
//     set_with_a_detached_task set_with_a_task_that_waits detached_task_outlives_its_parent
//     detached_after_a_nested_region
// TEST: with_priorities_only
//   ENV: OMP_MAX_TASK_PRIORITY=5
// TEST stock_pattern: freed_task_is_not_written_by_one_thread
//     freed_task_is_not_written_by_two_threads loop_of_tasks_beside_a_detached_one
//     task_behind_a_completion_in_the_deque set_with_a_detached_task set_with_a_task_that_waits
//     detached_task_outlives_its_parent detached_after_a_nested_region
//   ENV: KMP_BARRIER
// TEST stock_pattern: with_priorities_only
//   ENV: KMP_BARRIER OMP_MAX_TASK_PRIORITY=5

#include <omp.h>

#include <atomic>
#include <optional>
#include <thread>

#include "detached.hpp"
#include "tests/libomp/programs/check.hpp"

namespace {

// Meanwhile the body of the task ends. Whoever frees the task must not do so before the thread that
// fulfils the event has left the lock in it alone.
//
// That shows because freed blocks are used again, last in, first out. The padding makes the
// detached task as large as a table of dependences, so the table of its parent gets its block. A
// late write breaks a list in the table, and freeing that is a crash.
void freed_task_is_not_written(int num_threads) {
#ifdef __x86_64__
  omp_test::set_up_stepping();
  omp_test::SteppingFulfiller fulfiller;
  std::atomic<int> done{0};
  struct {
    char bytes[600];
  } const padding = {};
#pragma omp parallel num_threads(num_threads)
#pragma omp single
  while (!fulfiller.is_at_the_end()) {
#pragma omp task if (0) shared(fulfiller, done)
    {
      omp_event_handle_t event;
#pragma omp task if (0) detach(event) firstprivate(padding) shared(fulfiller, done)
      {
        static_cast<void>(padding);
        fulfiller.fulfil(event);
        ++done;
      }
      constexpr int kNumAddresses =
          128;  // enough for almost every list, too few for a larger table
      [[maybe_unused]] int values[kNumAddresses];
#pragma omp task depend(iterator(i = 0 : kNumAddresses), out : values[i]) shared(done)
      ++done;
#pragma omp taskwait
      fulfiller.release_and_await();
    }
  }
  const int num_held_up = fulfiller.num_held_up();
  std::printf("held up at %d instructions\n", num_held_up);
  CHECK(num_held_up >= 50);
  CHECK_EQUAL(done.load(), 2 * num_held_up);
#else
  static_cast<void>(num_threads);
#endif
}

void skip_without_stepping() {
  if (omp_test::kCanStep) return;
  std::puts("skipped: threads are held up with the trap flag of x86-64");
  std::exit(omp_test::kSkipped);
}

void freed_task_is_not_written_by_one_thread() {
  skip_without_stepping();
  freed_task_is_not_written(1);
}

void freed_task_is_not_written_by_two_threads() {
  skip_without_stepping();
  freed_task_is_not_written(2);
}

// In a team of one thread, only some tasks are counted by their parents. Here the tasks of a loop
// follow one that is detached.
void loop_of_tasks_beside_a_detached_one() {
  for (int round = 0; round < 20; ++round) {
    int done = 0;
    std::optional<omp_test::LateFulfilment> fulfilment;
#pragma omp parallel num_threads(1)
    {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(fulfilment)
      fulfilment.emplace(event);
#pragma omp taskloop grainsize(1) shared(done)
      for (int i = 0; i < 7; ++i) ++done;
#pragma omp taskwait
      CHECK(fulfilment->is_done());
    }
    CHECK_EQUAL(done, 7);
  }
}

// In a team of one thread. The detached task has ended, but its completion is still in the thread's
// deque when a task is made that depends on it. So that task has to wait, and has no siblings.
void task_behind_a_completion_in_the_deque() {
  for (int round = 0; round < 20; ++round) {
    std::optional<omp_test::LateFulfilment> fulfilment;
    int value = 0;
#pragma omp parallel num_threads(1)
    for (int turn = 0; turn < 2; ++turn) {
#pragma omp taskgroup
      {
#pragma omp taskgroup  // its end waits for the event only
        {
          omp_event_handle_t event;
#pragma omp task detach(event) depend(inout : value) shared(fulfilment, value)
          fulfilment.emplace(event);
        }
        fulfilment.reset();  // so that the completion is in the deque
#pragma omp task depend(inout : value) shared(value)
        ++value;
        if (turn == 1) {  // the first time the end of the taskgroup waits for it
#pragma omp taskwait
          CHECK_EQUAL(value, 2);
        }
      }
      CHECK_EQUAL(value, turn + 1);
    }
  }
}

// In a team of one thread. A task runs as soon as it is made, but not while another one of its set
// is detached.
void set_with_a_detached_task() {
  for (int round = 0; round < 20; ++round) {
    bool has_run = false;
    std::optional<omp_test::LateFulfilment> fulfilment;
#pragma omp parallel num_threads(1)
    {
      omp_event_handle_t event;
#pragma omp task detach(event) depend(mutexinoutset : has_run) shared(fulfilment)
      fulfilment.emplace(event);
#pragma omp task depend(mutexinoutset : has_run) shared(fulfilment, has_run)
      {
        CHECK(fulfilment->is_done());
        has_run = true;
      }
#pragma omp taskwait
      CHECK(has_run);
    }
  }
}

// In a team of one thread. While a task waits, it runs the completion of a detached one, which
// releases another one of its set.
void set_with_a_task_that_waits() {
  for (int round = 0; round < 20; ++round) {
    bool is_running = false, has_run = false;
#pragma omp parallel num_threads(1)
    {
      omp_event_handle_t event;
#pragma omp task detach(event) depend(out : has_run)
      static_cast<void>(event);
#pragma omp task depend(in : has_run) depend(mutexinoutset : is_running) shared(is_running, has_run)
      {
        CHECK(!is_running);
        has_run = true;
      }
#pragma omp task depend(mutexinoutset : is_running) shared(is_running)
      {
        is_running = true;
        std::optional<omp_test::LateFulfilment> fulfilment;
        omp_event_handle_t inner_event;
#pragma omp task detach(inner_event) shared(fulfilment)
        fulfilment.emplace(inner_event);
        omp_fulfill_event(event);
#pragma omp taskwait
        is_running = false;
      }
#pragma omp taskwait
      CHECK(has_run);
    }
  }
}

// In a team of one thread. The detached task ends after its parent, and is what keeps the parent's
// memory. The parent's own parent does not count it, and goes on.
void detached_task_outlives_its_parent() {
  for (int round = 0; round < 200; ++round) {
    int done = 0;
    std::optional<omp_test::LateFulfilment> fulfilment;
#pragma omp parallel num_threads(1)
    {
#pragma omp task shared(done, fulfilment)
      {
        int values[64];
        for (int i = 0; i < 64; ++i) values[i] = i;
#pragma omp taskgroup  // its end runs the completion, and the tasks behind it get whatever that
                       // frees
        {
#pragma omp task shared(fulfilment)
          {
            omp_event_handle_t event;
#pragma omp task detach(event) shared(fulfilment)
            fulfilment.emplace(event);
          }
        }
        for (int i = 0; i < 64; ++i) {
#pragma omp task shared(done) firstprivate(values)
          done += values[i] == i;
        }
      }
    }
    CHECK(fulfilment->is_done());
    CHECK_EQUAL(done, 64);
  }
}

// A thread in a team of one comes back from another region and detaches a task, for which the end
// of its own region waits.
void detached_after_a_nested_region() {
  omp_set_max_active_levels(2);
  for (int round = 0; round < 20; ++round) {
    std::optional<omp_test::LateFulfilment> fulfilment;
#pragma omp parallel num_threads(1)
    {
      std::atomic<int> num_threads{0};
#pragma omp parallel num_threads(2)
      ++num_threads;
      CHECK_EQUAL(num_threads.load(), 2);
      omp_event_handle_t event;
#pragma omp task detach(event) shared(fulfilment)
      fulfilment.emplace(event);
    }
    CHECK(fulfilment->is_done());
  }
}

// The completion of a detached task goes into a deque of its team. Tasks with a priority have
// deques of their own, so a team may have found tasks before any of its threads has a deque.
void with_priorities_only() {
  for (int num_threads = 1; num_threads <= 4; ++num_threads) {
    std::atomic<int> done{0};
    std::atomic<bool> fulfilled{false};
    std::thread outside;
#pragma omp parallel num_threads(num_threads)
    {
#pragma omp single nowait
      {
#pragma omp task priority(2) shared(done)
        ++done;
        omp_event_handle_t event;
#pragma omp task priority(1) detach(event) shared(done, fulfilled, outside)
        {
          ++done;
          outside = std::thread([event, &fulfilled] {
            fulfilled = true;
            omp_fulfill_event(event);
          });
        }
      }
#pragma omp barrier
      CHECK(fulfilled.load());
      CHECK_EQUAL(done.load(), 2);
    }
    outside.join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"freed_task_is_not_written_by_one_thread", freed_task_is_not_written_by_one_thread},
       {"freed_task_is_not_written_by_two_threads", freed_task_is_not_written_by_two_threads},
       {"with_priorities_only", with_priorities_only},
       {"loop_of_tasks_beside_a_detached_one", loop_of_tasks_beside_a_detached_one},
       {"task_behind_a_completion_in_the_deque", task_behind_a_completion_in_the_deque},
       {"set_with_a_detached_task", set_with_a_detached_task},
       {"set_with_a_task_that_waits", set_with_a_task_that_waits},
       {"detached_task_outlives_its_parent", detached_task_outlives_its_parent},
       {"detached_after_a_nested_region", detached_after_a_nested_region}});
}
