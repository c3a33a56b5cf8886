// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What GCC's library does by initial threads and by tasks: target regions on the host, leagues, the
// owners of nestable locks. What a thread is told of where it is does not depend on what others do.

// BUILD: gcc
// TEST: target_regions_are_outside target_regions_begin_with_the_first_settings
//     target_regions_in_tasks leagues target_regions_are_outside_of_leagues
//     levels_beside_target_regions teams_beside_target_regions nestable_locks_are_owned_by_tasks
// TEST stock_pattern: levels_beside_target_regions teams_beside_target_regions
//   ENV: KMP_BARRIER

#include <omp.h>

#include <atomic>

#include "tests/libomp/programs/check.hpp"

namespace {

// In a team of its own, outside of all regions around.
void check_is_initial() {
  CHECK_EQUAL(omp_get_level(), 0);
  CHECK_EQUAL(omp_get_active_level(), 0);
  CHECK_EQUAL(omp_in_parallel(), 0);
  CHECK_EQUAL(omp_get_num_threads(), 1);
  CHECK_EQUAL(omp_get_thread_num(), 0);
  CHECK_EQUAL(omp_get_ancestor_thread_num(0), 0);
  CHECK_EQUAL(omp_get_ancestor_thread_num(1), -1);
  CHECK_EQUAL(omp_get_team_size(0), 1);
  CHECK_EQUAL(omp_get_num_teams(), 1);
  CHECK_EQUAL(omp_get_team_num(), 0);
}

void target_regions_are_outside() {
  for (int round = 0; round < 20; ++round) {
    int singles = 0;
#pragma omp parallel num_threads(3)
    {
#pragma omp target map(tofrom : singles)
      {
        check_is_initial();
#pragma omp single
        {
#pragma omp atomic
          ++singles;
        }
#pragma omp parallel num_threads(2)
        {
          CHECK_EQUAL(omp_get_num_threads(), 2);
          CHECK_EQUAL(omp_get_level(), 1);
          CHECK_EQUAL(omp_in_parallel(), 1);
          CHECK_EQUAL(omp_get_ancestor_thread_num(1), omp_get_thread_num());
          CHECK_EQUAL(omp_get_team_size(1), 2);
          CHECK_EQUAL(omp_get_ancestor_thread_num(2), -1);
        }
        check_is_initial();
      }
      CHECK_EQUAL(omp_get_level(), 1);
      CHECK_EQUAL(omp_get_num_threads(), 3);
#pragma omp barrier
    }
    CHECK_EQUAL(singles, 3);
  }
}

void target_regions_begin_with_the_first_settings() {
  const int num_threads = omp_get_max_threads(), dynamic = omp_get_dynamic();
  omp_set_num_threads(3);
  omp_set_dynamic(!dynamic);
  for (int nested = 0; nested < 2; ++nested) {
#pragma omp parallel if (0)
    {
#pragma omp target
      {
        CHECK_EQUAL(omp_get_max_threads(), num_threads);
        CHECK_EQUAL(omp_get_dynamic(), dynamic);
        omp_set_num_threads(7);
      }
      CHECK_EQUAL(omp_get_max_threads(), 3);
      CHECK_EQUAL(omp_get_dynamic(), !dynamic);
    }
  }
  omp_set_dynamic(dynamic);
#pragma omp parallel
  CHECK_EQUAL(omp_get_num_threads(), 3);
}

void target_regions_in_tasks() {
  int done = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < 40; ++i) {
#pragma omp task shared(done)
    {
#pragma omp target map(tofrom : done)
      {
        check_is_initial();
#pragma omp atomic
        ++done;
      }
      CHECK_EQUAL(omp_get_level(), 1);
    }
#pragma omp target nowait map(tofrom : done)
    {
      check_is_initial();
#pragma omp atomic
      ++done;
    }
  }
  CHECK_EQUAL(done, 80);
}

// As many teams as asked for, each with as many threads as allowed, however many cpus there are.
void leagues() {
  for (const int num_teams : {1, 2, 5, 9}) {
    std::atomic<int> teams{0}, threads{0};
#pragma omp teams num_teams(num_teams) thread_limit(3)
    {
      CHECK_EQUAL(omp_get_num_teams(), num_teams);
      ++teams;
#pragma omp parallel num_threads(3)
      {
        CHECK_EQUAL(omp_get_num_threads(), 3);
        CHECK_EQUAL(omp_get_thread_limit(), 3);
        CHECK_EQUAL(omp_get_level(), 1);
        ++threads;
      }
#pragma omp parallel num_threads(8)
      CHECK(omp_get_num_threads() <= 3);
    }
    CHECK_EQUAL(teams.load(), num_teams);
    CHECK_EQUAL(threads.load(), 3 * num_teams);
  }
}

void target_regions_are_outside_of_leagues() {
#pragma omp teams num_teams(2)
  {
    const int team = omp_get_team_num();
    int league = 0;
#pragma omp parallel if (0)
#pragma omp target
    check_is_initial();
#pragma omp parallel if (0)
#pragma omp target map(tofrom : league)
#pragma omp teams num_teams(3) reduction(+ : league)
    {
      CHECK_EQUAL(omp_get_num_teams(), 3);
      ++league;
    }
    CHECK_EQUAL(league, 3);
    CHECK_EQUAL(omp_get_num_teams(), 2);
    CHECK_EQUAL(omp_get_team_num(), team);
  }
}

// Writes over what a call before has left in the stack.
[[gnu::noinline]] void use_stack() {
  volatile long words[512];
  for (volatile long& word : words) word = -1;
}

constexpr int kRounds = 500000;

// The primary runs target regions, and the others ask where they are until it is done. Whatever a
// target region leaves in the primary's stack is soon written over.
void beside_target_regions(void (*ask)()) {
  std::atomic<bool> stop{false};
#pragma omp parallel num_threads(4)
  {
    CHECK_EQUAL(omp_get_num_threads(), 4);
    if (omp_get_thread_num() == 0) {
      int value = 0;
      for (int round = 0; round < kRounds; ++round) {
#pragma omp target map(tofrom : value)
        ++value;
        use_stack();
      }
      CHECK_EQUAL(value, kRounds);
      stop = true;
    } else {
      while (!stop.load(std::memory_order_relaxed)) ask();
    }
  }
}

void levels_beside_target_regions() {
  beside_target_regions([] {
    CHECK_EQUAL(omp_get_level(), 1);
    CHECK_EQUAL(omp_get_active_level(), 1);
    CHECK_EQUAL(omp_in_parallel(), 1);
    CHECK_EQUAL(omp_get_ancestor_thread_num(0), 0);
    CHECK_EQUAL(omp_get_team_size(1), 4);
  });
}

int team_of_league;

void teams_beside_target_regions() {
#pragma omp teams num_teams(2)
  {
    team_of_league = omp_get_team_num();  // the teams run one after the other
    beside_target_regions([] {
      CHECK_EQUAL(omp_get_num_teams(), 2);
      CHECK_EQUAL(omp_get_team_num(), team_of_league);
    });
  }
}

void nestable_locks_are_owned_by_tasks() {
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(4)
    {
      omp_set_nest_lock(&lock);
      CHECK_EQUAL(omp_test_nest_lock(&lock), 2);
#pragma omp task if (0)
      CHECK_EQUAL(omp_test_nest_lock(&lock), 0);
#pragma omp parallel if (0)
      CHECK_EQUAL(omp_test_nest_lock(&lock), 0);
      CHECK_EQUAL(omp_test_nest_lock(&lock), 3);
      for (int i = 0; i < 3; ++i) omp_unset_nest_lock(&lock);
    }
    // Nobody holds it any more, so a task may.
#pragma omp task if (0) shared(lock)
    {
      CHECK_EQUAL(omp_test_nest_lock(&lock), 1);
      omp_unset_nest_lock(&lock);
    }
  }
  omp_destroy_nest_lock(&lock);
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(
      argc, argv,
      {{"target_regions_are_outside", target_regions_are_outside},
       {"target_regions_begin_with_the_first_settings",
        target_regions_begin_with_the_first_settings},
       {"target_regions_in_tasks", target_regions_in_tasks},
       {"leagues", leagues},
       {"target_regions_are_outside_of_leagues", target_regions_are_outside_of_leagues},
       {"levels_beside_target_regions", levels_beside_target_regions},
       {"teams_beside_target_regions", teams_beside_target_regions},
       {"nestable_locks_are_owned_by_tasks", nestable_locks_are_owned_by_tasks}});
}
