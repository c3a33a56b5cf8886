// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// `scope` and `masked` as GCC compiles them. A scope with task reductions calls GOMP_scope_start;
// its reduction variables are those of the tasks of the whole team.

// BUILD: gcc
// TEST: reduction masked
//   CHECK: --counter fast>=80
// TEST: several_scopes_without_waiting
//   CHECK: --counter phased>=80
// TEST: task_reduction task_reduction_of_an_array_in_nested_tasks
//   CHECK: --counter slow>=30
// TEST: task_reductions_of_two_scopes_in_turn
//   CHECK: --counter fast==300 --counter slow==100
// 80 of its regions have several threads, and each of these a barrier with tasks.
// TEST: task_reductions_of_nested_scopes
//   CHECK: --counter slow>=80
// TEST: task_reductions_after_a_cancelled_region
//   ENV: OMP_CANCELLATION=true
//   CHECK: --counter phased>=400

#include <omp.h>

#include <atomic>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kMaxThreads = 6;

void reduction() {
  for (int round = 0; round < 200; ++round) {
    const int num_threads = 1 + round % kMaxThreads;
    long sum = round;
    int most = -1;
#pragma omp parallel num_threads(num_threads)
    {
      const int me = omp_get_thread_num();
#pragma omp scope reduction(+ : sum) reduction(max : most)
      {
        sum += me + 1;
        most = me;
      }
      // The scope ends with a barrier.
      CHECK_EQUAL(sum, round + num_threads * (num_threads + 1) / 2);
      CHECK_EQUAL(most, num_threads - 1);
    }
  }
}

void several_scopes_without_waiting() {
  for (int round = 0; round < 100; ++round) {
    long first = 0, second = 0;
#pragma omp parallel num_threads(1 + round % kMaxThreads)
    {
#pragma omp scope nowait reduction(+ : first)
      first += 1;
#pragma omp scope nowait reduction(+ : second)
      second += 2;
    }
    CHECK_EQUAL(first, 1 + round % kMaxThreads);
    CHECK_EQUAL(second, 2 * first);
  }
}

// Each thread makes tasks, which any thread runs, and takes part itself.
void task_reduction() {
  for (int round = 0; round < 100; ++round) {
    const int num_threads = 1 + round % kMaxThreads;
    long sum = 3;
    unsigned long product = 1;
#pragma omp parallel num_threads(num_threads)
    {
#pragma omp scope reduction(task, + : sum) reduction(task, * : product)
      {
        sum += 100;
        for (long i = 1; i <= 10; ++i) {
#pragma omp task in_reduction(+ : sum) in_reduction(* : product)
          {
            sum += i;
            product *= 3;
          }
        }
      }
      CHECK_EQUAL(sum, 3 + num_threads * (100 + 55));
    }
    unsigned long expected = 1;
    for (int i = 0; i < 10 * num_threads; ++i) expected *= 3;
    CHECK(product == expected);
  }
}

void task_reduction_of_an_array_in_nested_tasks() {
  for (int round = 0; round < 40; ++round) {
    long sums[64] = {};
#pragma omp parallel num_threads(1 + round % kMaxThreads)
#pragma omp scope reduction(task, + : sums)
#pragma omp single nowait
    for (int i = 0; i < 64; ++i) {
#pragma omp task in_reduction(+ : sums) firstprivate(i)
      {
        sums[i] += 1;
#pragma omp task in_reduction(+ : sums) firstprivate(i)
        sums[63 - i] += 10;
      }
    }
    for (long sum : sums) CHECK_EQUAL(sum, 11);
  }
}

void task_reductions_of_two_scopes_in_turn() {
  long sum = 0;
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 100; ++round) {
#pragma omp single
    sum = 0;
#pragma omp scope reduction(task, + : sum)
    {
#pragma omp task in_reduction(+ : sum)
      sum += round;
    }
    CHECK_EQUAL(sum, 4 * round);
#pragma omp barrier
  }
}

// The inner scope's table is not the outer one's, and a task of the inner one may take part in
// both.
void task_reductions_of_nested_scopes() {
  for (int round = 0; round < 100; ++round) {
    const int num_threads = 1 + round % kMaxThreads;
    long outer = 0, inner = 0, both[2] = {};
#pragma omp parallel num_threads(num_threads)
    {
#pragma omp scope reduction(task, + : outer)
      {
#pragma omp task in_reduction(+ : outer)
        outer += 1;
#pragma omp scope reduction(task, + : inner, both)
        {
          for (int i = 0; i < 4; ++i) {
#pragma omp task in_reduction(+ : outer, inner, both)
            {
              inner += 10;
              outer += 100;
              both[i % 2] += 1;
            }
          }
        }
        CHECK_EQUAL(inner, 40 * num_threads);
      }
      CHECK_EQUAL(outer, 401 * num_threads);
    }
    CHECK_EQUAL(both[0], 2 * num_threads);
    CHECK_EQUAL(both[1], 2 * num_threads);
  }
}

void masked() {
  for (int round = 0; round < 100; ++round) {
    const int num_threads = 1 + round % kMaxThreads;
    std::atomic<int> runs{0};
#pragma omp parallel num_threads(num_threads)
    {
#pragma omp masked
      {
        CHECK_EQUAL(omp_get_thread_num(), 0);
        ++runs;
      }
#pragma omp masked filter(num_threads - 1)
      {
        CHECK_EQUAL(omp_get_thread_num(), num_threads - 1);
        ++runs;
      }
#pragma omp barrier
      CHECK_EQUAL(runs.load(), 2);
    }
  }
}

// A thread leaves the region before a loop and a scope with task reductions in which the others
// are. The next region's tasks must not take part in those, which have room for fewer threads.
void task_reductions_after_a_cancelled_region() {
  CHECK(omp_get_cancellation());
  for (int round = 0; round < 200; ++round) {
    const int num_threads = 3 + round % (kMaxThreads - 2);
    long abandoned = 0, by_loop = 0, by_scope = 0;
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == round % 2) {
#pragma omp cancel parallel
      }
#pragma omp for schedule(dynamic) reduction(task, + : abandoned)
      for (int i = 0; i < 8; ++i) {
#pragma omp task in_reduction(+ : abandoned)
        abandoned += 1;
      }
    }
#pragma omp parallel num_threads(num_threads)
    {
#pragma omp for schedule(dynamic) reduction(task, + : by_loop)
      for (int i = 0; i < 8; ++i) {
#pragma omp task in_reduction(+ : by_loop) firstprivate(i)
        by_loop += i;
      }
#pragma omp scope reduction(task, + : by_scope)
      {
#pragma omp task in_reduction(+ : by_scope)
        by_scope += 1;
      }
    }
    CHECK_EQUAL(by_loop, 28);
    CHECK_EQUAL(by_scope, num_threads);
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"reduction", reduction},
       {"several_scopes_without_waiting", several_scopes_without_waiting},
       {"task_reduction", task_reduction},
       {"task_reduction_of_an_array_in_nested_tasks", task_reduction_of_an_array_in_nested_tasks},
       {"task_reductions_of_two_scopes_in_turn", task_reductions_of_two_scopes_in_turn},
       {"task_reductions_of_nested_scopes", task_reductions_of_nested_scopes},
       {"masked", masked},
       {"task_reductions_after_a_cancelled_region", task_reductions_after_a_cancelled_region}});
}
