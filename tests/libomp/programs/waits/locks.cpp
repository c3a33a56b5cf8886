// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Locks and critical sections that many threads want at once, among them such as sleep and such as
// are not OpenMP's: one holder at a time, and everybody gets there.

// BUILD: clang
// BUILD: gcc
// TEST: critical_sections named_and_nested_critical_sections locks nestable_locks of_several_roots
// TEST blocktime_0: critical_sections named_and_nested_critical_sections locks nestable_locks
//     of_several_roots
//   ENV: KMP_BLOCKTIME=0
// TEST (clang): locks_with_hints
// TEST queuing (clang): critical_sections locks nestable_locks
//   ENV: KMP_LOCK_KIND=queuing
// TEST active (clang): critical_sections locks nestable_locks
//   ENV: OMP_WAIT_POLICY=active

#include <omp.h>
#include <poll.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kNumThreads = 8;
constexpr int kNumTimes = 400;

// Not atomic: only a lock keeps the count right.
struct Guarded {
  long count = 0;
  std::atomic<int> num_holders{0};

  void hold(int turn) {
    CHECK_EQUAL(num_holders.fetch_add(1), 0);
    ++count;
    if (turn % 100 == 0) poll(nullptr, 0, 10);  // longer than waiters poll
    CHECK_EQUAL(num_holders.fetch_sub(1), 1);
  }
};

void critical_sections() {
  Guarded guarded;
#pragma omp parallel num_threads(kNumThreads)
  for (int i = 0; i < kNumTimes; ++i) {
#pragma omp critical
    guarded.hold(i);
  }
  CHECK_EQUAL(guarded.count, kNumThreads * kNumTimes);
}

void named_and_nested_critical_sections() {
  Guarded outer;
  Guarded inner;
#pragma omp parallel num_threads(kNumThreads)
  for (int i = 0; i < kNumTimes; ++i) {
#pragma omp critical(outer_section)
    {
      outer.hold(i + 1);
#pragma omp critical(inner_section)
      inner.hold(i + 1);
    }
#pragma omp critical(inner_section)
    inner.hold(i + 1);
  }
  CHECK_EQUAL(outer.count, kNumThreads * kNumTimes);
  CHECK_EQUAL(inner.count, 2 * kNumThreads * kNumTimes);
}

void locks() {
  Guarded guarded;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(kNumThreads)
  for (int i = 0; i < kNumTimes; ++i) {
    if (i % 3 != 0 || !omp_test_lock(&lock)) omp_set_lock(&lock);
    guarded.hold(i);
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
  CHECK_EQUAL(guarded.count, kNumThreads * kNumTimes);
}

void nestable_locks() {
  Guarded guarded;
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(kNumThreads)
  for (int i = 0; i < kNumTimes; ++i) {
    omp_set_nest_lock(&lock);
    CHECK_EQUAL(omp_test_nest_lock(&lock), 2);
    guarded.hold(i);
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
  }
  omp_destroy_nest_lock(&lock);
  CHECK_EQUAL(guarded.count, kNumThreads * kNumTimes);
}

#ifdef __clang__  // GCC's library has no such function
void locks_with_hints() {
  for (const omp_lock_hint_t hint :
       {omp_lock_hint_none, omp_lock_hint_uncontended, omp_lock_hint_contended,
        omp_lock_hint_nonspeculative, omp_lock_hint_speculative}) {
    Guarded guarded;
    omp_lock_t lock;
    omp_init_lock_with_hint(&lock, hint);
#pragma omp parallel num_threads(kNumThreads)
    for (int i = 0; i < kNumTimes; ++i) {
      omp_set_lock(&lock);
      guarded.hold(i + 1);
      omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    CHECK_EQUAL(guarded.count, kNumThreads * kNumTimes);
  }
}
#endif

void of_several_roots() {
  Guarded guarded;
  std::vector<std::thread> roots;
  for (int root = 0; root < 3; ++root) {
    roots.emplace_back([&guarded] {
#pragma omp parallel num_threads(3)
      for (int i = 0; i < kNumTimes; ++i) {
#pragma omp critical(of_several_roots)
        guarded.hold(i);
      }
    });
  }
  for (std::thread& root : roots) root.join();
  CHECK_EQUAL(guarded.count, 9 * kNumTimes);
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(
      argc, argv,
      {{"critical_sections", critical_sections},
       {"named_and_nested_critical_sections", named_and_nested_critical_sections},
       {"locks", locks},
       {"nestable_locks", nestable_locks},
#ifdef __clang__
       {"locks_with_hints", locks_with_hints},
#endif
       {"of_several_roots", of_several_roots}});
}
