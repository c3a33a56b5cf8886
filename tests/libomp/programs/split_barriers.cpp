// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Barriers that are split around work of the primary thread. Compilers no longer emit these calls,
// but they belong to libomp's interface; copyprivate and blocking reductions use the same ways
// inside.

// BUILD: clang
// TEST: primary_works_between_gather_and_release nowait_form_names_the_primary
//     tasks_are_done_when_the_primary_works
//   CHECK: --counter phased>=10
// TEST trees: primary_works_between_gather_and_release nowait_form_names_the_primary
//     tasks_are_done_when_the_primary_works
//   ENV: $trees
//   CHECK: --counter phased>=10

#include <omp.h>

#include <atomic>
#include <cstdint>

#include "tests/libomp/programs/check.hpp"

extern "C" {
// libomp's description of a place in the source, as compilers pass it.
struct ident_t {
  std::int32_t reserved_1;
  std::int32_t flags;
  std::int32_t reserved_2;
  std::int32_t reserved_3;
  const char* source;
};
std::int32_t __kmpc_global_thread_num(ident_t*);
std::int32_t __kmpc_barrier_master(ident_t*, std::int32_t global_tid);
void __kmpc_end_barrier_master(ident_t*, std::int32_t global_tid);
std::int32_t __kmpc_barrier_master_nowait(ident_t*, std::int32_t global_tid);
}

namespace {

constexpr int kMaxThreads = 16;
constexpr int kRounds = 100;
constexpr std::int32_t kCompiledForKmpc = 2;
ident_t place = {0, kCompiledForKmpc, 0, 0, ";split_barriers.cpp;;0;0;;"};

// The primary comes back when all have arrived, and what it then writes is seen by the others when
// they are let go.
void primary_works_between_gather_and_release() {
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
    long arrived[kMaxThreads] = {};
    long written = 0;
    bool may_leave = false;
#pragma omp parallel num_threads(num_threads)
    {
      const int me = omp_get_thread_num();
      const std::int32_t gtid = __kmpc_global_thread_num(&place);
      for (long round = 1; round <= kRounds; ++round) {
        arrived[me] = round;
        if (__kmpc_barrier_master(&place, gtid) != 0) {
          CHECK_EQUAL(me, 0);
          for (int i = 0; i < num_threads; ++i) CHECK_EQUAL(arrived[i], round);
          CHECK(!may_leave);
          written = round * 7;
          may_leave = true;
          __kmpc_end_barrier_master(&place, gtid);
        } else {
          CHECK(me != 0);
        }
        CHECK(may_leave);
        CHECK_EQUAL(written, round * 7);
#pragma omp barrier
        if (me == 0) may_leave = false;
      }
    }
  }
}

void nowait_form_names_the_primary() {
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
    std::atomic<int> primaries{0};
    std::atomic<long> arrived[kMaxThreads] = {};
#pragma omp parallel num_threads(num_threads)
    {
      const int me = omp_get_thread_num();
      for (long round = 1; round <= kRounds; ++round) {
        arrived[me] = round;
        if (__kmpc_barrier_master_nowait(&place, __kmpc_global_thread_num(&place)) != 0) {
          CHECK_EQUAL(me, 0);
          ++primaries;
        }
        for (int i = 0; i < num_threads; ++i) CHECK(arrived[i] >= round && arrived[i] <= round + 1);
      }
    }
    CHECK_EQUAL(primaries.load(), kRounds);
  }
}

void tasks_are_done_when_the_primary_works() {
  for (int num_threads = 2; num_threads <= kMaxThreads; ++num_threads) {
    std::atomic<int> done{0};
#pragma omp parallel num_threads(num_threads)
    {
      const std::int32_t gtid = __kmpc_global_thread_num(&place);
      for (int round = 1; round <= 20; ++round) {
        for (int i = 0; i < 3; ++i) {
#pragma omp task
          ++done;
        }
        if (__kmpc_barrier_master(&place, gtid) != 0) {
          CHECK_EQUAL(done.load(), 3 * num_threads * round);
          __kmpc_end_barrier_master(&place, gtid);
        }
#pragma omp barrier
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"primary_works_between_gather_and_release", primary_works_between_gather_and_release},
       {"nowait_form_names_the_primary", nowait_form_names_the_primary},
       {"tasks_are_done_when_the_primary_works", tasks_are_done_when_the_primary_works}});
}
