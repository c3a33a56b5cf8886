// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// fork(): the child has one thread, a copy of the parent's teams, lines and counters, and must
// start afresh.

// BUILD: clang
// BUILD: gcc
// TEST (clang): child_uses_openmp
//   CHECK: --counter reports==2 --counter fast>=300
// TEST init_at_fork_false (clang): child_uses_openmp
//   ENV: KMP_INIT_AT_FORK=FALSE
//   CHECK: --counter reports==2 --counter fast>=300
//     --expect "Warning: hierbar: KMP_INIT_AT_FORK=.FALSE. is not obeyed"
// TEST (clang): child_uses_openmp_first
//   CHECK: --counter reports==2 --counter fast>=80
// TEST (clang): child_never_uses_openmp
//   CHECK: --counter fast==80
// TEST (clang): fork_while_workers_sleep
//   ENV: KMP_BLOCKTIME=0 $trees
//   CHECK: --counter reports==6
// TEST (clang): grandchildren
//   CHECK: --counter reports==3
// TEST (clang): fork_inside_a_region
//   CHECK: --counter reports==1
// `hierbar run` sets KMP_INIT_AT_FORK=TRUE, which is read again at each start of the library.
// TEST: six_generations parent_only_asks after_hard_pauses keys_are_not_used_up childs_thread_ends
// TEST init_at_fork: six_generations parent_only_asks after_hard_pauses keys_are_not_used_up
//     childs_thread_ends grandchildren
//   ENV: KMP_INIT_AT_FORK=TRUE
// TEST stock_pattern: six_generations parent_only_asks after_hard_pauses keys_are_not_used_up
//     childs_thread_ends
//   ENV: KMP_BARRIER KMP_INIT_AT_FORK=TRUE

#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/libomp/programs/check.hpp"
#include "tests/libomp/programs/process/forked_child.hpp"

namespace {

using omp_test::expect_good_end;
using omp_test::fork_and;

void region(int num_threads) {
  std::vector<long> slots(num_threads);
  long* const slot = slots.data();
  std::atomic<int> tasks{0};
#pragma omp parallel num_threads(num_threads)
  {
    CHECK_EQUAL(omp_get_num_threads(), num_threads);
    for (long crossing = 1; crossing <= 20; ++crossing) {
      slot[omp_get_thread_num()] = crossing;
#pragma omp barrier
      for (int i = 0; i < num_threads; ++i) CHECK_EQUAL(slot[i], crossing);
#pragma omp barrier
    }
#pragma omp task shared(tasks)
    ++tasks;
#pragma omp barrier
    CHECK_EQUAL(tasks.load(), num_threads);
  }
}

void child_uses_openmp() {
  region(4);
  const pid_t child = fork_and([] {
    for (int size : {4, 2, 9, 4}) region(size);
  });
  for (int size : {4, 6}) region(size);  // at the same time
  expect_good_end(child);
  region(4);
}

void child_uses_openmp_first() {
  const pid_t child = fork_and([] { region(5); });
  expect_good_end(child);
  region(3);
}

void child_never_uses_openmp() {
  region(4);
  expect_good_end(fork_and([] {}));
  region(4);
}

// Under KMP_BLOCKTIME=0 all workers sleep when the parent forks.
void fork_while_workers_sleep() {
  for (int round = 0; round < 5; ++round) {
    region(6);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const pid_t child = fork_and([] { region(6); });
    region(6);
    expect_good_end(child);
  }
}

void grandchildren() {
  region(3);
  expect_good_end(fork_and([] {
    region(4);
    expect_good_end(fork_and([] { region(5); }));
    region(4);
  }));
}

// Each child uses OpenMP and forks again; as does one that starts a command meanwhile.
void generations(int num_left) {
  region(3);
  expect_good_end(fork_and([] { execlp("sh", "sh", "-c", "exit 7", nullptr); }));
  if (num_left > 0) expect_good_end(fork_and([&] { generations(num_left - 1); }));
  region(2);
}

void six_generations() { generations(5); }

// The parent has no team: it has asked a question.
void parent_only_asks() {
  CHECK(omp_get_max_threads() > 0);
  expect_good_end(fork_and([] { generations(2); }));
  region(3);
}

[[gnu::noinline]] void pause() { CHECK_EQUAL(omp_pause_resource_all(omp_pause_hard), 0); }

// libomp is taken down and starts again, in the parent and in the child.
void after_hard_pauses() {
  for (int round = 0; round < 3; ++round) {
    region(3);
    pause();
  }
  expect_good_end(fork_and([] { region(3); }));
  region(4);
  expect_good_end(fork_and([] {
    region(4);
    pause();
    generations(2);
  }));
  region(2);
}

int count_free_keys() {
  std::vector<pthread_key_t> keys;
  for (pthread_key_t key; pthread_key_create(&key, nullptr) == 0;) keys.push_back(key);
  for (const pthread_key_t key : keys) pthread_key_delete(key);
  return static_cast<int>(keys.size());
}

// Else a child of a child of a child, a thousand times, had none.
void keys_are_not_used_up() {
  region(3);
  const int num_free = count_free_keys();
  expect_good_end(fork_and([&] {
    region(3);
    CHECK_EQUAL(count_free_keys(), num_free);
  }));
}

void end_the_thread() {
  expect_good_end([] {
    std::fflush(nullptr);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child != 0) return child;
    std::atexit([] { _exit(7); });  // the last thread's end is that of the process
    pthread_exit(nullptr);
  }());
}

// It has a number in the parent and none in the child.
void childs_thread_ends() {
  std::thread([] {
    region(3);
    end_the_thread();
  }).join();
  region(3);
}

// Forking in a parallel region is allowed as long as the child does not go on with the region.
void fork_inside_a_region() {
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(3)
    {
#pragma omp barrier
#pragma omp single
      {
        std::fflush(nullptr);
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) _exit(7);
        expect_good_end(child);
      }
#pragma omp barrier
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"child_uses_openmp", child_uses_openmp},
                             {"child_uses_openmp_first", child_uses_openmp_first},
                             {"child_never_uses_openmp", child_never_uses_openmp},
                             {"fork_while_workers_sleep", fork_while_workers_sleep},
                             {"grandchildren", grandchildren},
                             {"six_generations", six_generations},
                             {"parent_only_asks", parent_only_asks},
                             {"after_hard_pauses", after_hard_pauses},
                             {"keys_are_not_used_up", keys_are_not_used_up},
                             {"childs_thread_ends", childs_thread_ends},
                             {"fork_inside_a_region", fork_inside_a_region}});
}
