// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Detached tasks: their end is announced by omp_fulfill_event, possibly from a thread that libomp
// does not know, while the whole team waits in a barrier and perhaps sleeps.

// BUILD: clang
// BUILD: gcc
// TEST: fulfilled_outside_the_team fulfilled_by_another_task fulfilled_in_the_task_itself
//     successors_of_a_detached_task detached_in_explicit_tasks taskwait_for_a_detached_task
//   CHECK: --counter slow>=10
// TEST asleep: fulfilled_outside_the_team
//   ENV: KMP_BLOCKTIME=0
//   CHECK: --counter slow>=10
// TEST asleep (clang): detached_in_explicit_tasks
//   ENV: KMP_BLOCKTIME=0
//   CHECK: --counter slow>=10

#include <omp.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kMaxThreads = 6;

template <class Body>
void for_every_size(int num_rounds, Body&& body) {
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
    for (int round = 0; round < num_rounds; ++round) body(num_threads, round);
  }
}

void sleep_ms(int duration_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(duration_ms));
}

// The event is fulfilled at once, after a moment, or so late that all have gone to sleep.
void fulfilled_outside_the_team() {
  for_every_size(3, [](int num_threads, int round) {
    std::atomic<bool> fulfilled{false};
    std::atomic<int> before{0};
    std::thread outside;
#pragma omp parallel num_threads(num_threads)
    {
#pragma omp single nowait
      {
        omp_event_handle_t event;
#pragma omp task detach(event) shared(outside, fulfilled)
        outside = std::thread([event, round, &fulfilled] {
          if (round > 0) sleep_ms(round == 1 ? 1 : 60);
          fulfilled = true;
          omp_fulfill_event(event);
        });
      }
      ++before;
#pragma omp barrier
      CHECK(fulfilled.load());
      CHECK_EQUAL(before.load(), num_threads);
#pragma omp barrier
    }
    outside.join();
  });
}

void fulfilled_by_another_task() {
  for_every_size(20, [](int num_threads, int) {
    std::atomic<int> done{0};
#pragma omp parallel num_threads(num_threads)
    {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
      ++done;
#pragma omp task firstprivate(event) shared(done)
      {
        ++done;
        omp_fulfill_event(event);
      }
#pragma omp barrier
      CHECK_EQUAL(done.load(), 2 * num_threads);
#pragma omp barrier
    }
  });
}

void fulfilled_in_the_task_itself() {
  for_every_size(20, [](int num_threads, int) {
    std::atomic<int> done{0};
#pragma omp parallel num_threads(num_threads)
    {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
      {
        omp_fulfill_event(event);
        ++done;
      }
#pragma omp barrier
      CHECK_EQUAL(done.load(), num_threads);
    }
  });
}

// What depends on a detached task begins after the event, and its own tasks also hold the barrier.
void successors_of_a_detached_task() {
  for_every_size(4, [](int num_threads, int round) {
    std::vector<std::thread> outside(num_threads);
    std::atomic<int> fulfilled{0}, done{0};
#pragma omp parallel num_threads(num_threads)
    {
      [[maybe_unused]] int value = 0;  // only named in clauses
      std::thread* const own = &outside[omp_get_thread_num()];
      omp_event_handle_t event;
#pragma omp task detach(event) depend(out : value) shared(fulfilled)
      *own = std::thread([event, round, &fulfilled] {
        sleep_ms(round);
        ++fulfilled;
        omp_fulfill_event(event);
      });
#pragma omp task depend(in : value) shared(fulfilled, done)
      {
        CHECK(fulfilled.load() >= 1);
#pragma omp task shared(done)
        ++done;
      }
#pragma omp barrier
      CHECK_EQUAL(done.load(), num_threads);
    }
    for (std::thread& thread : outside) thread.join();
  });
}

// The parent is an explicit task and long done. A successor in it then makes another level, also
// detached.
void detached_in_explicit_tasks() {
  for_every_size(4, [](int num_threads, int round) {
    std::vector<std::thread> outside(2 * num_threads);
    std::atomic<int> fulfilled{0}, done{0};
#pragma omp parallel num_threads(num_threads)
    {
      std::thread* const own = &outside[2 * omp_get_thread_num()];
      const auto fulfil_later = [round, &fulfilled](std::thread& thread, omp_event_handle_t event) {
        thread = std::thread([event, round, &fulfilled] {
          sleep_ms(round);
          ++fulfilled;
          omp_fulfill_event(event);
        });
      };
#pragma omp task shared(fulfil_later, fulfilled, done)
      {
        [[maybe_unused]] int value = 0;  // only named in clauses
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : value) shared(fulfil_later)
        fulfil_later(own[0], event);
#pragma omp task depend(in : value) shared(fulfil_later, fulfilled, done)
        {
          CHECK(fulfilled.load() >= 1);
          omp_event_handle_t inner_event;
#pragma omp task detach(inner_event) shared(fulfil_later, done)
          {
            fulfil_later(own[1], inner_event);
            ++done;
          }
        }
      }
#pragma omp barrier
      CHECK_EQUAL(fulfilled.load(), 2 * num_threads);
      CHECK_EQUAL(done.load(), num_threads);
    }
    for (std::thread& thread : outside) thread.join();
  });
}

void taskwait_for_a_detached_task() {
  for_every_size(6, [](int num_threads, int round) {
    std::atomic<int> fulfilled{0};
    std::vector<std::thread> outside(num_threads);
#pragma omp parallel num_threads(num_threads)
    {
      std::thread* const own = &outside[omp_get_thread_num()];
      omp_event_handle_t event;
#pragma omp task detach(event) shared(fulfilled)
      *own = std::thread([event, round, &fulfilled] {
        sleep_ms(round % 3);
        ++fulfilled;
        omp_fulfill_event(event);
      });
#pragma omp taskwait
      CHECK(fulfilled.load() >= 1);
#pragma omp barrier
      CHECK_EQUAL(fulfilled.load(), num_threads);
#pragma omp barrier
    }
    for (std::thread& thread : outside) thread.join();
  });
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"fulfilled_outside_the_team", fulfilled_outside_the_team},
                             {"fulfilled_by_another_task", fulfilled_by_another_task},
                             {"fulfilled_in_the_task_itself", fulfilled_in_the_task_itself},
                             {"successors_of_a_detached_task", successors_of_a_detached_task},
                             {"detached_in_explicit_tasks", detached_in_explicit_tasks},
                             {"taskwait_for_a_detached_task", taskwait_for_a_detached_task}});
}
