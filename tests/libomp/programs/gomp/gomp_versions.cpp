// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Functions under the version names that GCC 5 to 13 gave them, whatever the compiler here would
// call. The program is linked with our library; what a program has that was linked with GCC's is
// the same names and versions. Allocators are in gomp_allocators.cpp, functions of GCC 14 to 16 in
// gomp_newer_versions.cpp.

// The compiler's libgomp may be older than the versions that this program names.
// BUILD: gcc -L$library_dir
// TEST: gomp_4_0_1 omp_5_0_2 omp_5_1 omp_5_1_1 omp_5_2
//   CHECK: --counter fast==40
// TEST: gomp_5_1
//   CHECK: --counter fast==40 --expect "^libgomp: error directive encountered: from C$"
//     --expect "^libgomp: error directive encountered: from Fortran$"
// TEST: gomp_5_1_1
//   CHECK: --counter slow==50
// TEST: omp_5_0_1
//   CHECK: --counter fast==40 --counter slow==1
// TEST: gomp_error
//   CHECK: --exit-code 1
//     --expect "^libgomp: fatal error: error directive encountered: this ends it$"
// The library takes itself for GCC's only if it is loaded by that name.
// TEST spincount: omp_5_2
//   ENV: GOMP_SPINCOUNT=100 LD_PRELOAD=$tests_library_dir/libgomp.so.1
//   CHECK: --expect "GOMP_SPINCOUNT=.100. has no effect: .*KMP_BLOCKTIME"
// TEST no_warnings: omp_5_2
//   ENV: GOMP_SPINCOUNT=100 KMP_WARNINGS=off LD_PRELOAD=$tests_library_dir/libgomp.so.1
//   CHECK: --reject "GOMP_SPINCOUNT=.100. has no effect: .*KMP_BLOCKTIME"

#include <omp.h>

#include <atomic>
#include <cstdint>

#include "gomp_versioned.hpp"

extern "C" {
VERSIONED(void, GOMP_offload_register, "GOMP_4.0.1", const void*, int, const void*);
VERSIONED(void, GOMP_offload_unregister, "GOMP_4.0.1", const void*, int, const void*);
VERSIONED(bool, GOMP_teams4, "GOMP_5.1", unsigned, unsigned, unsigned, bool);
VERSIONED(void, GOMP_warning, "GOMP_5.1", const char*, size_t);
VERSIONED(void, GOMP_error, "GOMP_5.1", const char*, size_t);
VERSIONED(void, GOMP_taskwait_depend_nowait, "GOMP_5.1.1", void**);

VERSIONED(int, omp_get_supported_active_levels, "OMP_5.0.1", void);
VERSIONED(int, omp_get_supported_active_levels_, "OMP_5.0.1", void);
VERSIONED(void, omp_fulfill_event, "OMP_5.0.1", omp_event_handle_t);

VERSIONED(int, omp_get_device_num, "OMP_5.0.2", void);
VERSIONED(int, omp_get_device_num_, "OMP_5.0.2", void);

VERSIONED(void, omp_display_env, "OMP_5.1", int);
VERSIONED(void, omp_display_env_, "OMP_5.1", const int32_t*);
VERSIONED(void, omp_display_env_8_, "OMP_5.1", const int64_t*);
VERSIONED(void, omp_set_num_teams, "OMP_5.1", int);
VERSIONED(void, omp_set_num_teams_, "OMP_5.1", const int32_t*);
VERSIONED(void, omp_set_num_teams_8_, "OMP_5.1", const int64_t*);
VERSIONED(int, omp_get_max_teams, "OMP_5.1", void);
VERSIONED(int, omp_get_max_teams_, "OMP_5.1", void);
VERSIONED(void, omp_set_teams_thread_limit, "OMP_5.1", int);
VERSIONED(void, omp_set_teams_thread_limit_, "OMP_5.1", const int32_t*);
VERSIONED(void, omp_set_teams_thread_limit_8_, "OMP_5.1", const int64_t*);
VERSIONED(int, omp_get_teams_thread_limit, "OMP_5.1", void);
VERSIONED(int, omp_get_teams_thread_limit_, "OMP_5.1", void);

VERSIONED(void*, omp_get_mapped_ptr, "OMP_5.1.1", const void*, int);
VERSIONED(int, omp_target_is_accessible, "OMP_5.1.1", const void*, size_t, int);
VERSIONED(int, omp_target_memcpy_async, "OMP_5.1.1", void*, const void*, size_t, size_t, size_t,
          int, int, int, omp_depend_t*);
VERSIONED(int, omp_target_memcpy_rect_async, "OMP_5.1.1", void*, const void*, size_t, int,
          const size_t*, const size_t*, const size_t*, const size_t*, const size_t*, int, int, int,
          omp_depend_t*);

VERSIONED(int, omp_in_explicit_task, "OMP_5.2", void);
VERSIONED(int, omp_in_explicit_task_, "OMP_5.2", void);
}

namespace {

using omp_test::cross_some_barriers;

void gomp_4_0_1() {
  const void* const host_table[] = {nullptr, nullptr, nullptr, nullptr};
  versioned_GOMP_offload_register(host_table, 5, nullptr);
  cross_some_barriers();
  versioned_GOMP_offload_unregister(host_table, 5, nullptr);
}

// One team after the other, each with a region of its own.
void run_league(unsigned low, unsigned high, unsigned limit, int expected_teams,
                int expected_limit) {
  int num_teams = 0;
  std::atomic<int> threads{0};
  if (versioned_GOMP_teams4(low, high, limit, true)) {
    do {
#pragma omp parallel num_threads(4)
      {
        CHECK_EQUAL(omp_get_team_num(), num_teams);
        CHECK_EQUAL(omp_get_num_teams(), expected_teams);
        ++threads;
      }
      if (expected_limit > 0) CHECK_EQUAL(omp_get_thread_limit(), expected_limit);
      ++num_teams;
    } while (versioned_GOMP_teams4(low, high, limit, false));
  }
  CHECK_EQUAL(num_teams, expected_teams);
  CHECK_EQUAL(threads.load(),
              expected_teams * (expected_limit > 0 && expected_limit < 4 ? expected_limit : 4));
  CHECK_EQUAL(omp_get_num_teams(), 1);
  CHECK_EQUAL(omp_get_team_num(), 0);
}

void gomp_5_1() {
  const int outer_limit = omp_get_thread_limit();
  run_league(3, 3, 2, 3, 2);
  run_league(2, 5, 0, 2, 0);
  run_league(0, 0, 0, 1, 0);
  run_league(1, 1, 100, 1, 100);
  CHECK_EQUAL(omp_get_thread_limit(), outer_limit);
  // In all threads of a team at the same time.
#pragma omp parallel num_threads(3)
  {
    const unsigned mine = omp_get_thread_num() + 1;
    unsigned ran = 0;
    if (versioned_GOMP_teams4(mine, mine, 0, true)) {
      do {
        CHECK_EQUAL(omp_get_num_teams(), mine);
        CHECK_EQUAL(omp_get_team_num(), ran++);
      } while (versioned_GOMP_teams4(mine, mine, 0, false));
    }
    CHECK_EQUAL(ran, mine);
  }
  versioned_GOMP_warning("from C", SIZE_MAX);
  versioned_GOMP_warning("from Fortran, with more behind it", 12);
  cross_some_barriers();
}

void gomp_error() { versioned_GOMP_error("this ends it", SIZE_MAX); }

// The empty task comes after the first one, and the last one after it.
void gomp_5_1_1() {
  for (int round = 0; round < 50; ++round) {
    int stage = 0;
    char first = 0, second = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
#pragma omp task depend(out : first) shared(stage)
      stage = 1;
      void* depend[] = {reinterpret_cast<void*>(2), reinterpret_cast<void*>(2), &first, &second};
      versioned_GOMP_taskwait_depend_nowait(depend);
#pragma omp task depend(in : second) shared(stage)
      {
        CHECK_EQUAL(stage, 1);
        stage = 2;
      }
    }
    CHECK_EQUAL(stage, 2);
  }
}

void omp_5_0_1() {
  CHECK(versioned_omp_get_supported_active_levels() >= 1);
  CHECK_EQUAL(versioned_omp_get_supported_active_levels_(),
              versioned_omp_get_supported_active_levels());
  std::atomic<bool> done{false};
#pragma omp parallel num_threads(4)
  {
#pragma omp single nowait
    {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
      {
        done = true;
        versioned_omp_fulfill_event(event);
      }
    }
#pragma omp barrier
    CHECK(done.load());
  }
  cross_some_barriers();
}

void omp_5_0_2() {
  CHECK_EQUAL(versioned_omp_get_device_num(), omp_get_initial_device());
  CHECK_EQUAL(versioned_omp_get_device_num_(), omp_get_initial_device());
  cross_some_barriers();
}

void omp_5_1() {
  const int32_t five = 5, yes = 1;
  const int64_t six = 6, no = 0, huge = INT64_MAX;
  versioned_omp_set_num_teams(4);
  CHECK_EQUAL(versioned_omp_get_max_teams(), 4);
  versioned_omp_set_num_teams_(&five);
  CHECK_EQUAL(versioned_omp_get_max_teams(), 5);
  versioned_omp_set_num_teams_8_(&six);
  CHECK_EQUAL(versioned_omp_get_max_teams_(), 6);
  run_league(0, 0, 0, 6, 0);
  versioned_omp_set_teams_thread_limit(3);
  CHECK_EQUAL(versioned_omp_get_teams_thread_limit(), 3);
  run_league(2, 2, 0, 2, 3);
  versioned_omp_set_teams_thread_limit_(&five);
  CHECK_EQUAL(versioned_omp_get_teams_thread_limit_(), 5);
  versioned_omp_set_teams_thread_limit_8_(&six);
  CHECK_EQUAL(versioned_omp_get_teams_thread_limit(), 6);
  versioned_omp_set_teams_thread_limit_8_(&huge);
  CHECK(versioned_omp_get_teams_thread_limit() > 6);
  versioned_omp_display_env(0);
  versioned_omp_display_env_(&yes);
  versioned_omp_display_env_8_(&no);
  cross_some_barriers();
}

void omp_5_1_1() {
  const int host = omp_get_initial_device();
  int from[6] = {1, 2, 3, 4, 5, 6}, to[6] = {};
  CHECK(versioned_omp_get_mapped_ptr(from, host) == from);
  CHECK(versioned_omp_get_mapped_ptr(from, host + 7) == nullptr);
  CHECK_EQUAL(versioned_omp_target_is_accessible(from, sizeof(from), host), 1);
  CHECK_EQUAL(versioned_omp_target_is_accessible(from, sizeof(from), host + 7), 0);
  // The copies wait for the task that writes.
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    omp_depend_t object;
#pragma omp depobj(object) depend(in : from)
#pragma omp task depend(out : from) shared(from)
    from[0] = 100;
    CHECK_EQUAL(
        versioned_omp_target_memcpy_async(to, from, sizeof(int), 0, 0, host, host, 1, &object), 0);
    CHECK_EQUAL(to[0], 100);
    const size_t volume[] = {2, 2}, offset[] = {0, 1}, size[] = {2, 3};
    CHECK_EQUAL(versioned_omp_target_memcpy_rect_async(to, from, sizeof(int), 2, volume, offset,
                                                       offset, size, size, host, host, 1, &object),
                0);
#pragma omp depobj(object) destroy
  }
  const int expected[6] = {100, 2, 3, 0, 5, 6};
  for (int i = 0; i < 6; ++i) CHECK_EQUAL(to[i], expected[i]);
  cross_some_barriers();
}

void omp_5_2() {
  CHECK_EQUAL(versioned_omp_in_explicit_task(), 0);
  std::atomic<int> in_tasks{0};
#pragma omp parallel num_threads(4)
  {
    CHECK_EQUAL(versioned_omp_in_explicit_task(), 0);
#pragma omp task
    in_tasks += versioned_omp_in_explicit_task() + versioned_omp_in_explicit_task_();
  }
  CHECK_EQUAL(in_tasks.load(), 8);
  cross_some_barriers();
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"gomp_4_0_1", gomp_4_0_1},
                             {"gomp_5_1", gomp_5_1},
                             {"gomp_error", gomp_error},
                             {"gomp_5_1_1", gomp_5_1_1},
                             {"omp_5_0_1", omp_5_0_1},
                             {"omp_5_0_2", omp_5_0_2},
                             {"omp_5_1", omp_5_1},
                             {"omp_5_1_1", omp_5_1_1},
                             {"omp_5_2", omp_5_2}});
}
