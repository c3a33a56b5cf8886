// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Regions that repeat, and then something that makes the next one another. HIERBAR_VERBOSE=1 says
// how many were lean and why the last one that was not was not. The tests check both; the texts are
// those of kmp_hierbar_region_record.cpp.

// BUILD: clang
// BUILD: gcc
// TEST: unchanged five_arguments with_tasks fp_control_is_restored
//   CHECK: --counter lean==98 --counter ordinary==2 --expect "because its team size changed"
// TEST: tasks_round_as_their_region
//   CHECK: --expect "because it was in a task"
// TEST trees: unchanged with_tasks
//   ENV: $trees
//   CHECK: --counter lean==98
// TEST blocktime_0: unchanged with_tasks
//   ENV: KMP_BLOCKTIME=0
//   CHECK: --counter lean==98
// TEST: size_by_call size_by_clause size_set_to_and_fro
//   CHECK: --counter lean==98 --expect "because its team size changed"
// TEST: cancelled
//   ENV: OMP_CANCELLATION=true
//   CHECK: --counter lean==99 --expect "because the previous one was cancelled"
// TEST: places
//   ENV: OMP_PLACES={0},{1} OMP_PROC_BIND=close
//   CHECK: --counter lean==98 --expect "because the places changed"
// TEST: strict_size
//   CHECK: --counter lean==98 --expect "because its size was set with strict"
// TEST: dynamic
//   ENV: KMP_DYNAMIC_MODE=thread_limit
//   CHECK: --counter lean==0 --expect "because dyn-var"
// TEST: icvs
//   CHECK: --counter lean==98 --expect "because the ICVs changed"
// TEST: allocator
//   CHECK: --counter lean==98 --expect "because the default allocator changed"
// TEST: fp_control
//   CHECK: --counter lean==98 --expect "because the floating-point control words"
// TEST: settings
//   CHECK: --counter lean==98 --expect "because the settings were read"
// TEST: paused
//   CHECK: --counter lean==98 --expect "because OpenMP was paused"
// TEST: in_a_task
//   CHECK: --counter lean==98 --expect "because it was in a task"
// TEST: nested
//   CHECK: --counter lean==98 --expect "because it was nested"
// TEST (clang): in_teams
//   CHECK: --counter lean==98 --expect "because it was in a teams construct"
// A league of GCC's is no construct of libomp's; see gomp/kmp_gomp_initial.cpp.
// TEST (gcc): in_teams
//   CHECK: --counter lean==98 --expect "because its team size changed"
// TEST omp_tool_libraries: unchanged
//   ENV: OMP_TOOL_LIBRARIES=$program_dir/counting_tool.so
//   CHECK: --counter lean==0 --expect "because a tool, a debugger"
// TEST omp_display_affinity: unchanged
//   ENV: OMP_DISPLAY_AFFINITY=true
//   CHECK: --counter lean==0 --expect "because a setting for debugging"
// TEST kmp_hot_teams_max_level: unchanged
//   ENV: KMP_HOT_TEAMS_MAX_LEVEL=0
//   CHECK: --counter lean==0 --expect "because there is no hot team"
// TEST kmp_stackpad: unchanged
//   ENV: KMP_STACKPAD=4096
//   CHECK: --counter lean==0 --expect "because KMP_STACKPAD is set"
// TEST: unchangedoff
//   ARGS: unchanged
//   ENV: HIERBAR_REGION=off
//   CHECK: --counter lean==0 --counter ordinary==100
// GCC's compiler puts all arguments into one record.
// TEST (clang): many_arguments
//   CHECK: --counter lean==98 --expect "because it had more than 5 arguments"

#include <dlfcn.h>
#include <omp.h>

#include <atomic>
#include <cfenv>

#include "tests/libomp/programs/check.hpp"

namespace {

int visits[8];

void count() { ++visits[omp_get_thread_num()]; }

void check_visits(int num_threads, int expected) {
  for (int i = 0; i < num_threads; ++i) CHECK_EQUAL(visits[i], expected);
  for (int& visit : visits) visit = 0;
}

// The first two go libomp's way: the team is new, then its size has changed.
void repeat() {
  for (int i = 0; i < 100; ++i) {
#pragma omp parallel
    count();
  }
  check_visits(omp_get_max_threads(), 100);
}

void one_more(int num_threads) {
#pragma omp parallel
  {
    CHECK_EQUAL(omp_get_num_threads(), num_threads);
    count();
  }
  check_visits(num_threads, 1);
}

void unchanged() { repeat(); }

void size_by_call() {
  repeat();
  omp_set_num_threads(3);
  one_more(3);
}

void size_by_clause() {
  repeat();
#pragma omp parallel num_threads(2)
  CHECK_EQUAL(omp_get_num_threads(), 2);
}

void size_set_to_and_fro() {
  repeat();
  omp_set_num_threads(2);
  omp_set_num_threads(4);
  one_more(4);
}

void icvs() {
  repeat();
  omp_set_max_active_levels(3);
#pragma omp parallel
  CHECK_EQUAL(omp_get_max_active_levels(), 3);
}

void dynamic() {
  omp_set_num_threads(2);
  omp_set_dynamic(1);
  for (int i = 0; i < 100; ++i) {
#pragma omp parallel
    CHECK(omp_get_num_threads() <= 2);
  }
}

void allocator() {
  repeat();
  omp_set_default_allocator(omp_large_cap_mem_alloc);
#pragma omp parallel
  CHECK(omp_get_default_allocator() == omp_large_cap_mem_alloc);
}

void fp_control() {
  repeat();
  std::fesetround(FE_DOWNWARD);
#pragma omp parallel
  {
    CHECK_EQUAL(std::fegetround(), FE_DOWNWARD);
    std::fesetround(FE_UPWARD);
  }
  CHECK_EQUAL(std::fegetround(), FE_DOWNWARD);
}

// Lean ones give the words back, too.
void fp_control_is_restored() {
  for (int i = 0; i < 100; ++i) {
#pragma omp parallel
    {
      CHECK_EQUAL(std::fegetround(), FE_TONEAREST);
      std::fesetround(FE_UPWARD);
    }
    CHECK_EQUAL(std::fegetround(), FE_TONEAREST);
  }
}

// A region in a task is not lean, and its workers keep nothing for the next one. They run its tasks
// under its rounding, and not under that of the lean regions before.
void tasks_round_as_their_region() {
  repeat();
  std::fesetround(FE_UPWARD);
  std::atomic<int> num_by_workers{0};
#pragma omp task if (0) shared(num_by_workers)
  while (num_by_workers < 100) {
#pragma omp parallel shared(num_by_workers)
    if (omp_get_thread_num() == 0) {
      for (int i = 0; i < 64; ++i) {
#pragma omp task shared(num_by_workers)
        {
          CHECK_EQUAL(std::fegetround(), FE_UPWARD);
          num_by_workers += omp_get_thread_num() != 0;
        }
      }
      while (num_by_workers == 0) {  // by then some of them wait in the join
      }
    }
  }
}

void settings() {
  repeat();
  reinterpret_cast<void (*)(const char*)>(dlsym(RTLD_DEFAULT, "kmp_set_defaults"))(
      "KMP_WARNINGS=off");
  one_more(4);
}

void paused() {
  repeat();
  CHECK_EQUAL(omp_pause_resource(omp_pause_soft, omp_get_initial_device()), 0);
  one_more(4);
}

void in_a_task() {
  repeat();
#pragma omp task if (0)
  one_more(4);
}

void nested() {
  repeat();
#pragma omp parallel if (0)
  {
#pragma omp parallel num_threads(3)
    CHECK_EQUAL(omp_get_level(), 2);
  }
}

void in_teams() {
  repeat();
#pragma omp teams num_teams(1)
  {
#pragma omp parallel num_threads(2)
    CHECK(omp_get_num_threads() <= 2);
  }
}

void many_arguments() {
  repeat();
  int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
  std::atomic<int> sum{0};
#pragma omp parallel shared(a, b, c, d, e, f, sum)
  sum += a + b + c + d + e + f;
  CHECK_EQUAL(sum.load(), 21 * 4);
}

void five_arguments() {
  int a = 1, b = 2, c = 3, d = 4;
  for (int i = 0; i < 100; ++i) {
    std::atomic<int> sum{0};
#pragma omp parallel shared(a, b, c, d, sum)
    sum += a + b + c + d;
    CHECK_EQUAL(sum.load(), 10 * 4);
  }
}

void cancelled() {
  repeat();
#pragma omp parallel
  {
#pragma omp cancel parallel
  }
  one_more(4);
}

void places() {
  repeat();
#pragma omp parallel proc_bind(spread)
  CHECK_EQUAL(omp_get_proc_bind(), omp_proc_bind_close);
}

void strict_size() {
  repeat();
  auto* push = reinterpret_cast<void (*)(void*, int, int, int, const char*)>(
      dlsym(RTLD_DEFAULT, "__kmpc_push_num_threads_strict"));
  if (push == nullptr) {
    std::puts("this libomp has no strict num_threads");
    std::exit(omp_test::kSkipped);
  }
  push(nullptr, 0, 4, 1, nullptr);
  one_more(4);
}

void with_tasks() {
  std::atomic<int> num_tasks{0};
  for (int i = 0; i < 100; ++i) {
#pragma omp parallel shared(num_tasks)
    {
#pragma omp task shared(num_tasks)
      ++num_tasks;
    }
  }
  CHECK_EQUAL(num_tasks.load(), 400);
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_num_threads(4);
  return omp_test::run_case(argc, argv,
                            {{"unchanged", unchanged},
                             {"size_by_call", size_by_call},
                             {"size_by_clause", size_by_clause},
                             {"size_set_to_and_fro", size_set_to_and_fro},
                             {"icvs", icvs},
                             {"dynamic", dynamic},
                             {"allocator", allocator},
                             {"fp_control", fp_control},
                             {"fp_control_is_restored", fp_control_is_restored},
                             {"tasks_round_as_their_region", tasks_round_as_their_region},
                             {"settings", settings},
                             {"paused", paused},
                             {"in_a_task", in_a_task},
                             {"nested", nested},
                             {"in_teams", in_teams},
                             {"many_arguments", many_arguments},
                             {"five_arguments", five_arguments},
                             {"cancelled", cancelled},
                             {"places", places},
                             {"strict_size", strict_size},
                             {"with_tasks", with_tasks}});
}
