// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Constructs by the entry points that GCC 17 calls for them, with and without ends that are calls.

// The compiler's libgomp is older than the versions that this program names.
// BUILD: gcc -L$library_dir
// TEST: barriers
//   CHECK: --counter fast==2100
// TEST: barriers_with_tasks
//   CHECK: --counter slow>=150
// TEST: masked single
//   CHECK: --counter fast>=500
// TEST: scope scopes_with_task_reductions
//   CHECK: --counter fast>=100
// TEST: reductions static_loops static_loops_in_regions_of_one_thread leagues
// TEST stock_barrier: barriers barriers_with_tasks masked single scope
//     scopes_with_task_reductions reductions static_loops
//   ENV: KMP_BARRIER
// TEST: cancelled_loops cancelled_regions
//   ENV: OMP_CANCELLATION=true
// TEST stock_barrier: cancelled_loops cancelled_regions
//   ENV: OMP_CANCELLATION=true KMP_BARRIER
// TEST without_cancellation: cancelled_loops
//   ENV: OMP_CANCELLATION=false
//   CHECK: --counter fast>=600

#include <omp.h>

#include <atomic>
#include <vector>

#include "gomp_constructs.hpp"

namespace {

using omp_test::Chunk;
using omp_test::in_every_team;
using omp_test::reported_loop;
using omp_test::reported_scope;
using omp_test::static_part;

constexpr int kMaxThreads = 6;

// ---- barriers ----

// Each thread sees what all others wrote in front of the barrier, and nothing that they write
// behind the next one.
void barriers() {
  for (const BarrierKind kind : {kOfParallel, kOfWorkshare, kExplicit}) {
    int slots[kMaxThreads] = {};
    in_every_team(2, kMaxThreads, 70, [&](int thread, int round, int size) {
      slots[thread] = round + 1;
      versioned_GOMP_barrier_ext(kind);
      for (int other = 0; other < size; ++other) CHECK_EQUAL(slots[other], round + 1);
      versioned_GOMP_barrier_ext(kind);
    });
  }
  versioned_GOMP_barrier_ext(kExplicit);  // outside of all regions
#pragma omp parallel num_threads(1)
  versioned_GOMP_barrier_ext(kExplicit);
}

void barriers_with_tasks() {
  std::atomic<int> done{0};
  in_every_team(2, kMaxThreads, 30, [&](int, int round, int size) {
    for (int i = 0; i < 4; ++i) {
#pragma omp task shared(done)
      ++done;
    }
    versioned_GOMP_barrier_ext(round % 3);
    CHECK(done.load() >= 4 * size);
    versioned_GOMP_barrier_ext(kExplicit);
    if (versioned_GOMP_has_masked_thread_num(0)) done = 0;
    versioned_GOMP_barrier_ext(kExplicit);
  });
}

// ---- masked, single, scope ----

void masked() {
  std::atomic<int> runs{0};
  in_every_team(1, kMaxThreads, 50, [&](int thread, int round, int size) {
    const int filter = round % (size + 1);  // the last one is no thread's
    if (versioned_GOMP_has_masked_thread_num(filter)) {
      CHECK_EQUAL(thread, filter);
      ++runs;
    }
    if (versioned_GOMP_has_masked_thread_num_with_end(filter)) {
      CHECK_EQUAL(thread, filter);
      ++runs;
      versioned_GOMP_masked_end();
    }
    versioned_GOMP_barrier_ext(kExplicit);
    CHECK_EQUAL(runs.load(), filter < size ? 2 : 0);
    versioned_GOMP_barrier_ext(kExplicit);
    if (thread == 0) runs = 0;
    versioned_GOMP_barrier_ext(kExplicit);
  });
  CHECK(versioned_GOMP_has_masked_thread_num(0) && !versioned_GOMP_has_masked_thread_num(1));
}

void single() {
  std::atomic<int> runs{0};
  in_every_team(1, kMaxThreads, 100, [&](int, int round, int) {
    if (versioned_GOMP_single_start_with_end()) {
      CHECK_EQUAL(++runs, round + 1);
      // One in a region inside is another one.
#pragma omp parallel num_threads(2)
      {
        if (versioned_GOMP_single_start_with_end()) ++runs;
        versioned_GOMP_barrier_ext(kOfWorkshare);
        versioned_GOMP_single_end();
      }
      --runs;
    }
    versioned_GOMP_barrier_ext(kOfWorkshare);
    versioned_GOMP_single_end();
    CHECK_EQUAL(runs.load(), round + 1);
    versioned_GOMP_barrier_ext(kExplicit);
    if (round == 99 && versioned_GOMP_has_masked_thread_num(0)) runs = 0;
  });
  CHECK(versioned_GOMP_single_start_with_end());  // outside of all regions
  versioned_GOMP_single_end();
}

void scope() {
  std::atomic<int> entered{0};
  in_every_team(1, kMaxThreads, 50, [&](int, int, int size) {
    versioned_GOMP_scope_start_with_end(nullptr);
    ++entered;
    versioned_GOMP_scope_end();
    versioned_GOMP_barrier_ext(kOfWorkshare);
    CHECK(entered.load() >= size);
    versioned_GOMP_barrier_ext(kExplicit);
    entered = 0;
    versioned_GOMP_barrier_ext(kExplicit);
  });
}

void scopes_with_task_reductions() {
  int sum = 0;
  in_every_team(1, kMaxThreads, 50, [&](int, int round, int size) {
    reported_scope(&sum, [](int& mine) { mine += omp_get_thread_num() + 1; });
    CHECK_EQUAL(sum, (round + 1) * size * (size + 1) / 2);
    versioned_GOMP_barrier_ext(kExplicit);
    if (round == 49) sum = 0;
    versioned_GOMP_barrier_ext(kExplicit);
  });
}

// ---- reductions ----

// Half of the threads add as older GCCs do.
void reductions() {
  constexpr int kRounds = 300;
  long first = 0, second = 0;
  in_every_team(1, kMaxThreads, kRounds, [&](int thread, int, int) {
    if (thread % 2 == 0) {
      versioned_GOMP_reduction_start();
    } else {
      versioned_GOMP_atomic_start();
    }
    first += 1;
    second += thread;
    if (thread % 2 == 0) {
      versioned_GOMP_reduction_end();
    } else {
      versioned_GOMP_atomic_end();
    }
  });
  CHECK_EQUAL(first, kRounds * (1 + 2 + 3 + 4 + 5 + 6));
  CHECK_EQUAL(second, kRounds * (0 + 1 + 3 + 6 + 10 + 15));
}

// ---- static loops ----

void count_static_part(std::vector<int>& runs, PlaceInTeam place) {
  const Chunk part = static_part(static_cast<int>(runs.size()), place);
  for (int i = part.begin; i < part.end; ++i) ++runs[i];
}

void check_runs(const std::vector<int>& runs, int expected) {
  for (const int count : runs) CHECK_EQUAL(count, expected);
}

void static_loops() {
  for (int iterations : {0, 1, 5, 100}) {
    std::vector<int> runs(iterations);
    in_every_team(1, kMaxThreads, 20, [&](int thread, int, int size) {
      const PlaceInTeam place = versioned_GOMP_loop_static_worksharing(runs.size());
      CHECK_EQUAL(__real__ place, size);
      CHECK_EQUAL(__imag__ place, thread);
      count_static_part(runs, place);
      versioned_GOMP_barrier_ext(kOfWorkshare);
      reported_loop(iterations, [&](int i) { ++runs[i]; });
      versioned_GOMP_barrier_ext(kOfWorkshare);
      versioned_GOMP_loop_static_worksharing_end();
    });
    check_runs(runs, kMaxThreads * 20 * 2);
  }
}

void check_alone(PlaceInTeam place) {
  CHECK_EQUAL(__real__ place, 1);
  CHECK_EQUAL(__imag__ place, 0);
}

void static_loops_in_regions_of_one_thread() {
  check_alone(versioned_GOMP_loop_static_worksharing(10));  // before libomp is initialised
#pragma omp parallel num_threads(1)
  check_alone(versioned_GOMP_loop_static_worksharing(10));
#pragma omp parallel num_threads(3)
  {
    const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(1)
    check_alone(versioned_GOMP_loop_static_worksharing_start(10));
    CHECK_EQUAL(__imag__ versioned_GOMP_loop_static_worksharing(10), outer);
  }
}

// Those of a league run one after the other.
void leagues() {
  check_alone(versioned_GOMP_distribute_static_worksharing(10));
  for (const int num_teams : {1, 3, 5}) {
    std::vector<int> runs(100);
#pragma omp teams num_teams(num_teams)
    {
      const PlaceInTeam place = versioned_GOMP_distribute_static_worksharing(runs.size());
      CHECK_EQUAL(__real__ place, num_teams);
      CHECK_EQUAL(__imag__ place, omp_get_team_num());
      count_static_part(runs, place);
      const Chunk part =
          static_part(100, versioned_GOMP_distribute_static_worksharing_start(runs.size()));
      versioned_GOMP_distribute_static_worksharing_dispatch(part.begin, part.end - part.begin);
#pragma omp parallel num_threads(2)
      reported_loop(part.end - part.begin, [&](int i) { ++runs[part.begin + i]; });
      versioned_GOMP_distribute_static_worksharing_end();
    }
    check_runs(runs, 2);
  }
}

// ---- cancellation ----

// One thread cancels a loop. All are told so at its end, or none is if cancellation is off.
void cancelled_loops() {
  in_every_team(2, kMaxThreads, 100, [&](int thread, int round, int size) {
    bool leaves = false;
    reported_loop(10 * size, [&](int) {
      leaves = leaves || versioned_GOMP_cancel(omp_test::kCancelLoop, thread == round % size);
    });
    const bool is_cancelled = versioned_GOMP_barrier_cancel_ext(kOfWorkshare);
    versioned_GOMP_loop_static_worksharing_end();
    CHECK(!is_cancelled);  // a loop's request ends with the loop
    CHECK(omp_get_cancellation() || !leaves);
    if (thread == round % size) CHECK_EQUAL(leaves, omp_get_cancellation());
    CHECK(!versioned_GOMP_barrier_cancel_ext(kExplicit));
  });
}

// A thread cancels the region in front of a barrier in which the others wait. One that is slow to
// leave the barrier before is told so there.
void cancelled_regions() {
  CHECK(omp_get_cancellation());
  for (int round = 0; round < 100; ++round) {
    const int size = 2 + round % (kMaxThreads - 1);
    std::atomic<int> left{0};
#pragma omp parallel num_threads(size)
    {
      const bool cancels = omp_get_thread_num() == round % size;
      if (versioned_GOMP_barrier_cancel_ext(kExplicit)) {
        CHECK(!cancels);
        ++left;
      } else if (cancels ? versioned_GOMP_cancel(omp_test::kCancelParallel, true)
                         : versioned_GOMP_barrier_cancel_ext(kExplicit)) {
        ++left;
      }
    }
    CHECK_EQUAL(left.load(), size);
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"barriers", barriers},
       {"barriers_with_tasks", barriers_with_tasks},
       {"masked", masked},
       {"single", single},
       {"scope", scope},
       {"scopes_with_task_reductions", scopes_with_task_reductions},
       {"reductions", reductions},
       {"static_loops", static_loops},
       {"static_loops_in_regions_of_one_thread", static_loops_in_regions_of_one_thread},
       {"leagues", leagues},
       {"cancelled_loops", cancelled_loops},
       {"cancelled_regions", cancelled_regions}});
}
