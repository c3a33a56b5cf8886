// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// After a hard pause of resources libomp is down, and any construct may be the first one that uses
// it again. Code that Clang compiled asks for the thread's number once in each function, so each
// function here pauses in its middle.

// BUILD: clang
// BUILD: gcc
// TEST: regions synchronization worksharing tasks memory
// TEST stock_pattern: regions synchronization worksharing tasks memory
//   ENV: KMP_BARRIER

#include <omp.h>

#include "tests/libomp/programs/check.hpp"

namespace {

int shared_sum = 0;

// Inlined, so that the caller's number is asked for before.
[[gnu::always_inline]] inline void use_and_pause() {
  int num_threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : num_threads)
  ++num_threads;
  CHECK_EQUAL(num_threads, 2);
  CHECK_EQUAL(omp_pause_resource_all(omp_pause_hard), 0);
}

void a_region() {
  int sum = 0;
  use_and_pause();
#pragma omp parallel num_threads(3) proc_bind(close) reduction(+ : sum)
  ++sum;
  CHECK_EQUAL(sum, 3);
}

void a_serial_region() {
  volatile bool no = false;
  int sum = 0;
  use_and_pause();
#pragma omp parallel if (no) reduction(+ : sum)
  ++sum;
  CHECK_EQUAL(sum, 1);
}

void a_league() {
  int sum = 0;
  use_and_pause();
#pragma omp teams num_teams(2) thread_limit(2) reduction(+ : sum)
  ++sum;
  CHECK(sum > 0);
}

void regions() { a_region(), a_serial_region(), a_league(); }

void a_barrier() {
  use_and_pause();
#pragma omp barrier
}

void a_critical_section() {
  int sum = 0;
  use_and_pause();
#pragma omp critical
  ++sum;
  CHECK_EQUAL(sum, 1);
}

void a_named_critical_section() {
  int sum = 0;
  use_and_pause();
#pragma omp critical(name)
  ++sum;
  CHECK_EQUAL(sum, 1);
}

void a_master_and_a_number() {
  int sum = 0;
  use_and_pause();
#pragma omp master
  ++sum;
  CHECK_EQUAL(sum, 1);
  use_and_pause();
  CHECK_EQUAL(omp_get_thread_num(), 0);
}

void a_lock() {
  use_and_pause();
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
  CHECK(!omp_test_lock(&lock));
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
}

void synchronization() {
  a_barrier(), a_critical_section(), a_named_critical_section(), a_master_and_a_number(), a_lock();
}

void a_single() {
  int sum = 0;
  use_and_pause();
#pragma omp single
  ++sum;
  CHECK_EQUAL(sum, 1);
}

void a_static_loop() {
  use_and_pause();
  shared_sum = 0;
#pragma omp for reduction(+ : shared_sum)
  for (int i = 0; i < 10; ++i) ++shared_sum;
  CHECK_EQUAL(shared_sum, 10);
}

void a_dynamic_loop() {
  int sum = 0;
  use_and_pause();
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 10; ++i) ++sum;
  CHECK_EQUAL(sum, 10);
}

void an_ordered_loop() {
  int sum = 0;
  use_and_pause();
#pragma omp for ordered
  for (int i = 0; i < 10; ++i) {
#pragma omp ordered
    ++sum;
  }
  CHECK_EQUAL(sum, 10);
}

void a_doacross_loop() {
  int sum = 0;
  use_and_pause();
#pragma omp for schedule(guided) ordered(1)
  for (int i = 0; i < 9; ++i) {
#pragma omp ordered depend(sink : i - 1)
    ++sum;
#pragma omp ordered depend(source)
  }
  CHECK_EQUAL(sum, 9);
}

void sections() {
  int sum = 0;
  use_and_pause();
#pragma omp sections
  {
    ++sum;
  }
  CHECK_EQUAL(sum, 1);
}

void worksharing() {
  a_single(), a_static_loop(), a_dynamic_loop(), an_ordered_loop(), a_doacross_loop(), sections();
}

void a_task() {
  int sum = 0;
  use_and_pause();
#pragma omp task shared(sum)
  ++sum;
#pragma omp taskwait
  CHECK_EQUAL(sum, 1);
}

void a_task_with_dependences() {
  int sum = 0;
  use_and_pause();
#pragma omp task depend(inout : sum) shared(sum)
  ++sum;
#pragma omp taskwait
  CHECK_EQUAL(sum, 1);
}

void a_taskgroup() {
  int sum = 0;
  use_and_pause();
#pragma omp taskgroup
  {
#pragma omp task shared(sum)
    ++sum;
  }
  CHECK_EQUAL(sum, 1);
}

void a_taskloop() {
  int sum = 0;
  use_and_pause();
#pragma omp taskloop shared(sum)
  for (int i = 0; i < 10; ++i) ++sum;
  CHECK_EQUAL(sum, 10);
}

void a_taskwait() {
  use_and_pause();
#pragma omp taskwait
  use_and_pause();
#pragma omp taskyield
}

void tasks() { a_task(), a_task_with_dependences(), a_taskgroup(), a_taskloop(), a_taskwait(); }

void a_private_variable_of_an_allocator() {
#ifdef __clang__  // GCC 12 has no allocate directive
  int sum = 0;
  use_and_pause();
  int one = 1;
#pragma omp allocate(one) allocator(omp_default_mem_alloc)
  sum += one;
  CHECK_EQUAL(sum, 1);
#endif
}

void memory() {
  a_private_variable_of_an_allocator();
  use_and_pause();
  void* const block = omp_alloc(100, omp_default_mem_alloc);
  CHECK(block != nullptr);
  omp_free(block, omp_default_mem_alloc);
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"regions", regions},
                             {"synchronization", synchronization},
                             {"worksharing", worksharing},
                             {"tasks", tasks},
                             {"memory", memory}});
}
