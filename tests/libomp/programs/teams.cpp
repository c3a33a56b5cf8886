// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// `teams` on the host: a league whose primary threads form a team of their own, each opening
// parallel regions.

// BUILD: clang
// BUILD: gcc
// TEST: league_with_regions_and_barriers distributed_loop alternating_with_plain_regions
//     tasks_in_a_league
//   CHECK: --counter phased>=10
// TEST: regions_after_leagues_without_regions
//   CHECK: --counter lean>=10
// A league's team gets all 12 threads, however few cpus there are, and leaders that are late in
// releasing theirs.
// TEST trees (clang): tasks_after_idle_threads
//   ENV: $trees KMP_TEAMS_THREAD_LIMIT=64 OMP_NUM_THREADS=12
//   CHECK: --counter phased>=1000

#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

void league_with_regions_and_barriers() {
  for (int round = 0; round < 40; ++round) {
    const int num_teams = 1 + round % 4;
    const int num_threads = 1 + round / 4 % 5;
    std::atomic<int> started{0}, crossed{0};
#pragma omp teams num_teams(num_teams) thread_limit(8)
    {
      CHECK(omp_get_num_teams() >= 1 && omp_get_num_teams() <= num_teams);
      ++started;
      for (int region = 0; region < 3; ++region) {
        long slots[8] = {};
#pragma omp parallel num_threads(num_threads)
        {
          const int me = omp_get_thread_num();
          const int size = omp_get_num_threads();
          for (long crossing = 1; crossing <= 3; ++crossing) {
            slots[me] = crossing;
#pragma omp barrier
            for (int i = 0; i < size; ++i) CHECK_EQUAL(slots[i], crossing);
#pragma omp barrier
          }
#pragma omp master
          ++crossed;
        }
      }
    }
    CHECK(started.load() >= 1);
    CHECK_EQUAL(crossed.load(), 3 * started.load());
  }
}

// A league takes the threads for its regions from the team of the regions around it, also where it
// has none itself. The next region outside of it is at level 1 again.
void regions_after_leagues_without_regions() {
  volatile bool opens = false;
  for (int round = 0; round < 8; ++round) {
    for (int region = 0; region < 3; ++region) {
      int levels[2] = {-1, -1}, active_levels[2] = {-1, -1};
#pragma omp parallel num_threads(2)
      {
        levels[omp_get_thread_num()] = omp_get_level();
        active_levels[omp_get_thread_num()] = omp_get_active_level();
      }
      for (int thread = 0; thread < 2; ++thread) {
        CHECK_EQUAL(levels[thread], 1);
        CHECK_EQUAL(active_levels[thread], 1);
      }
    }
    if (round % 2 == 0) {
#pragma omp teams num_teams(1)
      CHECK_EQUAL(omp_get_num_teams(), 1);
    } else {
      int num_run = 0;
#pragma omp teams distribute parallel for num_teams(1) if (opens) reduction(+ : num_run)
      for (int i = 0; i < 2; ++i) ++num_run;
      CHECK_EQUAL(num_run, 2);
    }
  }
}

void distributed_loop() {
  for (int round = 0; round < 30; ++round) {
    std::vector<int> visits(501);
    int* const data = visits.data();
    long sum = 0;
#pragma omp teams distribute parallel for num_teams(1 + round % 4) thread_limit(1 + round % 6) \
    reduction(+ : sum)
    for (int i = 0; i < 501; ++i) {
      ++data[i];
      sum += i;
    }
    CHECK_EQUAL(sum, 500 * 501 / 2);
    for (int i = 0; i < 501; ++i) CHECK_EQUAL(visits[i], 1);
  }
}

// The hot team serves leagues and plain regions in turn.
void alternating_with_plain_regions() {
  for (int round = 0; round < 60; ++round) {
    std::atomic<int> in_league{0};
#pragma omp teams num_teams(2) thread_limit(3)
#pragma omp parallel num_threads(3)
    {
#pragma omp barrier
      ++in_league;
    }
    CHECK(in_league.load() >= 1);
    const int size = 2 + round % 7;
    std::vector<long> slots(size);
    long* const data = slots.data();
#pragma omp parallel num_threads(size)
    {
      data[omp_get_thread_num()] = round;
#pragma omp barrier
      for (int i = 0; i < size; ++i) CHECK_EQUAL(data[i], round);
    }
  }
}

void tasks_in_a_league() {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> done{0}, expected{0};
#pragma omp teams num_teams(3) thread_limit(4)
#pragma omp parallel num_threads(4)
    {
#pragma omp single nowait
      for (int i = 0; i < 10; ++i) {
        ++expected;
#pragma omp task shared(done)
        ++done;
      }
#pragma omp barrier
    }
    CHECK(expected.load() >= 10);
    CHECK_EQUAL(done.load(), expected.load());
  }
}

// A region in a league that leaves most threads of its team idle, then one with tasks in which all
// take part. To libomp's own patterns the idle ones still name the task team that the last region
// uses: one that has seen a task before its own release counts itself as finished twice, and the
// barrier ends too early, or never.
void tasks_after_idle_threads() {
  for (int round = 0; round < 1000; ++round) {
#pragma omp parallel num_threads(12)
    {
#pragma omp barrier
    }
#pragma omp teams num_teams(1) thread_limit(32)
#pragma omp parallel num_threads(1 + round % 3)
    {
#pragma omp barrier
    }
    std::atomic<int> done{0};
#pragma omp parallel num_threads(12)
    {
#pragma omp single nowait
      for (int i = 0; i < 5; ++i) {
#pragma omp task shared(done)
        {
          if (i == 4) usleep(200);
          ++done;
        }
      }
#pragma omp barrier
      CHECK_EQUAL(done.load(), 5);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"league_with_regions_and_barriers", league_with_regions_and_barriers},
       {"regions_after_leagues_without_regions", regions_after_leagues_without_regions},
       {"distributed_loop", distributed_loop},
       {"alternating_with_plain_regions", alternating_with_plain_regions},
       {"tasks_in_a_league", tasks_in_a_league},
       {"tasks_after_idle_threads", tasks_after_idle_threads}});
}
