// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// `target nowait` on the host becomes a hidden-helper task: it runs in a team of threads of its
// own, which libomp makes at the first such task and which crosses fork, join and plain barriers
// like any other.

// BUILD: clang
// TEST: tasks_outside_any_region tasks_before_a_barrier dependent_tasks regions_in_a_helper
//   ENV: LIBOMP_NUM_HIDDEN_HELPER_THREADS=4
//   CHECK: --counter reports==1
// TEST: forked_children after_hard_pauses other_roots_end
//   ENV: LIBOMP_NUM_HIDDEN_HELPER_THREADS=4
// TEST: tasks_while_a_helper_is_in_a_region
//   ENV: LIBOMP_NUM_HIDDEN_HELPER_THREADS=1

#include <omp.h>

#include <atomic>
#include <thread>

#include "tests/libomp/programs/check.hpp"
#include "tests/libomp/programs/process/forked_child.hpp"

namespace {

void tasks_outside_any_region() {
  std::atomic<int> done{0};
  for (int i = 0; i < 50; ++i) {
#pragma omp target nowait map(to : i)
    ++done;
  }
#pragma omp taskwait
  CHECK_EQUAL(done.load(), 50);
}

// The barrier must wait for them although none of its own threads runs them.
void tasks_before_a_barrier() {
  for (int num_threads = 1; num_threads <= 8; ++num_threads) {
    std::atomic<int> done{0};
#pragma omp parallel num_threads(num_threads)
    for (int round = 1; round <= 20; ++round) {
#pragma omp target nowait
      ++done;
#pragma omp target nowait
      ++done;
#pragma omp barrier
      CHECK_EQUAL(done.load(), 2 * round * num_threads);
#pragma omp barrier
    }
  }
}

void dependent_tasks() {
  for (int num_threads = 1; num_threads <= 6; ++num_threads) {
    std::atomic<int> chains{0};
#pragma omp parallel num_threads(num_threads)
    for (int round = 1; round <= 10; ++round) {
      int value = 0;
#pragma omp target nowait depend(out : value) map(tofrom : value)
      value = 1;
#pragma omp task depend(inout : value) shared(value)
      value = value * 10 + 2;
#pragma omp target nowait depend(inout : value) map(tofrom : value)
      value = value * 10 + 3;
#pragma omp task depend(in : value) shared(value, chains)
      {
        CHECK_EQUAL(value, 123);
        ++chains;
      }
#pragma omp taskwait
#pragma omp barrier
      CHECK_EQUAL(chains.load(), round * num_threads);
#pragma omp barrier
    }
  }
}

// Regions and barriers inside such a task: a hidden helper is a primary for a while.
void regions_in_a_helper() {
  std::atomic<int> crossed{0};
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    for (int i = 0; i < 10; ++i) {
#pragma omp target nowait
      {
#pragma omp parallel num_threads(3)
        {
#pragma omp barrier
          ++crossed;
        }
      }
    }
#pragma omp barrier
  }
  CHECK(crossed.load() >= 10);
}

void wait_until(const std::atomic<bool>& is) {
  while (!is) std::this_thread::yield();
}

// The only helper is in another team, or in none, while more tasks are created for it.
void create_tasks_while_a_helper_is_in_a_region(int num_levels) {
  omp_set_max_active_levels(num_levels);
  std::atomic<bool> is_in_region{false};
  std::atomic<bool> are_created{false};
  std::atomic<int> done{0};
#pragma omp target nowait
  {
#pragma omp parallel num_threads(2)
    {
      is_in_region = true;
      wait_until(are_created);
    }
    ++done;
  }
  wait_until(is_in_region);
  for (int i = 0; i < 10; ++i) {
#pragma omp target nowait
    ++done;
  }
  are_created = true;
#pragma omp taskwait
  CHECK_EQUAL(done.load(), 11);
}

void tasks_while_a_helper_is_in_a_region() {
  create_tasks_while_a_helper_is_in_a_region(1);
  create_tasks_while_a_helper_is_in_a_region(8);
}

template <class Body>
void in_a_child(Body&& body) {
  omp_test::expect_good_end(omp_test::fork_and(body));
}

// The child does not have the team, whether it needs one or only ends.
void forked_children() {
  tasks_outside_any_region();
  in_a_child([] {});
  in_a_child([] { tasks_before_a_barrier(); });
  in_a_child([] {
    tasks_outside_any_region();
    in_a_child([] { tasks_outside_any_region(); });
  });
  tasks_outside_any_region();
}

// The team ends with the library, and there is another one later.
void after_hard_pauses() {
  for (int round = 0; round < 3; ++round) {
    tasks_outside_any_region();
    CHECK_EQUAL(omp_pause_resource_all(omp_pause_hard), 0);
  }
  tasks_before_a_barrier();
}

// A thread that has used OpenMP ends. The team stays for the others. Such a thread's own tasks have
// run when it is gone.
void other_roots_end() {
  tasks_outside_any_region();
  std::thread([] { CHECK(omp_get_max_threads() > 0); }).join();
  tasks_outside_any_region();
  std::atomic<int> done{0};
  std::thread([&] {
    for (int i = 0; i < 50; ++i) {
#pragma omp target nowait map(to : i)
      ++done;
    }
  }).join();
  CHECK_EQUAL(done.load(), 50);
  tasks_outside_any_region();
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"tasks_outside_any_region", tasks_outside_any_region},
       {"tasks_before_a_barrier", tasks_before_a_barrier},
       {"dependent_tasks", dependent_tasks},
       {"regions_in_a_helper", regions_in_a_helper},
       {"forked_children", forked_children},
       {"after_hard_pauses", after_hard_pauses},
       {"other_roots_end", other_roots_end},
       {"tasks_while_a_helper_is_in_a_region", tasks_while_a_helper_is_in_a_region}});
}
