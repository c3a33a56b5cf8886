// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Worksharing loops over unsigned long long and pointers as GCC compiles them: GOMP_loop_ull_* gets
// the direction as a flag and the step as its two's complement. Each loop must run every iteration
// once.

// BUILD: gcc
// TEST: dynamic guided runtime ordered pointers many_doacross_loops

#include <omp.h>

#include <atomic>
#include <climits>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

using ull = unsigned long long;

constexpr int kMaxThreads = 5;

// begin, begin - step, ... while > end. The step after the last one must not wrap around.
struct Range {
  ull begin, end, step;

  ull num_iterations() const { return (begin - end - 1) / step + 1; }
};

const Range ranges[] = {
    {44, 0, 1},
    {100, 3, 7},
    {ULLONG_MAX, ULLONG_MAX - 60, 1},
    {ULLONG_MAX, ULLONG_MAX / 20, ULLONG_MAX / 20},
    {ULLONG_MAX, 1ull << 63, 1ull << 63},
    {1ull << 63, 5, (1ull << 63) - 5},
    {10, 9, 1},
    {5, 5, 1},
};

// Runs `loop` over each range in teams of each size; it calls its argument with each iteration's
// value.
void check_loops(const auto& loop) {
  for (const Range& range : ranges) {
    for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
      const ull num_iterations = range.begin > range.end ? range.num_iterations() : 0;
      std::vector<std::atomic<int>> counts(num_iterations);
#pragma omp parallel num_threads(num_threads)
      loop(range, [&](ull i) {
        CHECK((range.begin - i) % range.step == 0 && i > range.end);
        ++counts[(range.begin - i) / range.step];
      });
      for (const std::atomic<int>& count : counts) CHECK_EQUAL(count.load(), 1);
    }
  }
}

void dynamic() {
  check_loops([](const Range& range, auto body) {
#pragma omp for schedule(dynamic)
    for (ull i = range.begin; i > range.end; i -= range.step) body(i);
#pragma omp for schedule(monotonic : dynamic, 3) nowait
    for (ull i = range.end; i > range.end; i -= range.step) body(i);  // no iterations
  });
}

void guided() {
  check_loops([](const Range& range, auto body) {
#pragma omp for schedule(guided, 2)
    for (ull i = range.begin; i > range.end; i -= range.step) body(i);
  });
}

void runtime() {
  for (const omp_sched_t kind :
       {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto}) {
    omp_set_schedule(kind, 2);
    check_loops([](const Range& range, auto body) {
#pragma omp for schedule(runtime)
      for (ull i = range.begin; i > range.end; i -= range.step) body(i);
    });
  }
}

void ordered() {
  check_loops([](const Range& range, auto body) {
#pragma omp for ordered schedule(dynamic, 2)
    for (ull i = range.begin; i > range.end; i -= range.step) {
#pragma omp ordered
      body(i);
    }
#pragma omp for ordered schedule(static, 1)
    for (ull i = range.end; i > range.end; i -= range.step) {  // no iterations
#pragma omp ordered
      body(i);
    }
  });
}

void pointers() {
  int values[301] = {};
#pragma omp parallel num_threads(4)
  {
#pragma omp for schedule(dynamic, 5)
    for (int* p = values + 300; p >= values; p -= 3) *p += 1;
#pragma omp for schedule(guided)
    for (int* p = values; p < values + 301; p += 2) *p += 10;
  }
  for (int i = 0; i < 301; ++i)
    CHECK_EQUAL(values[i], (i % 3 == 0 ? 1 : 0) + (i % 2 == 0 ? 10 : 0));
}

// More loops in turn than there are buffers for; nobody frees one but the threads that are through
// with it.
void many_doacross_loops() {
  std::vector<long> values(41);
#pragma omp parallel num_threads(3)
  for (int round = 0; round < 30; ++round) {
#pragma omp for ordered(1) schedule(dynamic)
    for (ull i = 1; i <= 40; ++i) {
#pragma omp ordered depend(sink : i - 1)
      values[i] = i == 1 ? round : values[i - 1] + 1;
#pragma omp ordered depend(source)
    }
  }
  CHECK_EQUAL(values[40], 29 + 39);
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"dynamic", dynamic},
                             {"guided", guided},
                             {"runtime", runtime},
                             {"ordered", ordered},
                             {"pointers", pointers},
                             {"many_doacross_loops", many_doacross_loops}});
}
