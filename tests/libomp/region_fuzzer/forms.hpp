// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tests/libomp/region_fuzzer/body.hpp"

namespace region_fuzzer {

// A region without arguments finds its own here; there is one root thread then.
inline Region* region_of_all = nullptr;

inline void run_cancelled(Region& region) {
#pragma omp parallel shared(region)
  {
    check_surroundings(region);
    if (region.step.parts & kDynamicLoop && omp_get_thread_num() != 0) {
#pragma omp cancellation point parallel
    }
    if (omp_get_thread_num() == region.step.late_thread % region.size) {
#pragma omp cancel parallel
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < kIterations; ++i) ++region.num_iterations;
  }
}

inline void run_with_clauses(Region& region) {
  const Step& step = region.step;
  switch (step.form) {
    case Form::kNumThreads:
#pragma omp parallel num_threads(step.num_threads)
      run_body(region);
      return;
    case Form::kIf:
#pragma omp parallel num_threads(step.num_threads) if (step.condition)
      run_body(region);
      return;
    case Form::kClose:
#pragma omp parallel proc_bind(close)
      run_body(region);
      return;
    case Form::kSpread:
#pragma omp parallel proc_bind(spread) num_threads(step.num_threads)
      run_body(region);
      return;
    case Form::kPrimary:
#pragma omp parallel proc_bind(master)
      run_body(region);
      return;
    default:
#pragma omp parallel
      run_body(region);
  }
}

inline void run_with_arguments(Region& region) {
  const Step& step = region.step;
  long a = step.number, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6;
  const long expected = 7 * a + 21;
  if (step.form == Form::kManyArguments) {
#pragma omp parallel shared(region, a, b, c, d, e, f, g)
    {
      step.check("seven shared variables", a + b + c + d + e + f + g, expected);
      run_body(region);
    }
  } else {
#pragma omp parallel firstprivate(a, b, c) shared(region)
    {
      step.check("three private variables", a + b + c, 3 * step.number + 3);
      a = b = c = 0;
      run_body(region);
    }
    step.check("what they were copied from", a + b + c, 3 * step.number + 3);
  }
}

inline void run_reductions(Region& region) {
  const Step& step = region.step;
  long sum = step.number, product = 1;
  double largest = -1e9, total = 0.5;
  if (step.form == Form::kReduction) {
#pragma omp parallel reduction(+ : sum)
    {
      run_body(region);
      sum += 10 + omp_get_thread_num();
    }
  } else {
#pragma omp parallel num_threads(step.num_threads) reduction(+ : sum, total) \
    reduction(max : largest) reduction(* : product)
    {
      run_body(region);
      const int self = omp_get_thread_num();
      sum += 10 + self;
      total += 0.25;
      product *= 2;
      if (self > largest) largest = self;
    }
    step.check("total", static_cast<long long>(total * 4), 2 + region.size);
    step.check("product", product, 1L << region.size);
    step.check("largest", static_cast<long long>(largest), region.size - 1);
  }
  step.check("sum", sum, step.number + 10L * region.size + region.size * (region.size - 1L) / 2);
}

// These say how the work is shared, so their bodies are their own.
inline void run_combined(Region& region) {
  const Step& step = region.step;
  long visited = 0;
  if (step.form == Form::kFor) {
#pragma omp parallel for num_threads(step.num_threads) reduction(+ : visited)
    for (int i = 0; i < kIterations; ++i) visited += i;
  } else if (step.form == Form::kForDynamic) {
#pragma omp parallel for schedule(dynamic) reduction(+ : visited)
    for (int i = 0; i < kIterations; ++i) visited += i;
  } else {
#pragma omp parallel sections reduction(+ : visited)
    {
#pragma omp section
      visited += 300;
#pragma omp section
      visited += 400;
#pragma omp section
      visited += 80;
    }
  }
  step.check("sum of a combined construct", visited, kIterations * (kIterations - 1) / 2);
}

inline void run_teams(const Step& step) {
  std::atomic<int> num_leaders{0}, num_members{0};
#pragma omp teams num_teams(2) thread_limit(3)
  {
    ++num_leaders;
    if (step.condition) {
#pragma omp parallel num_threads(2)
      ++num_members;
    }
  }
  step.check("leaders of a league", num_leaders.load() >= 1, 1);
  if (step.condition)
    step.check("members of a league", num_members.load() >= num_leaders.load(), 1);
}

// Runs the region and judges it.
inline void run(const Step& step, const Model& model) {
  Region region(step, model);
  if (step.parts & kCancel) return run_cancelled(region);
  switch (step.form) {
    case Form::kFor:
    case Form::kForDynamic:
    case Form::kSections:
      return run_combined(region);
    case Form::kTeams:
      return run_teams(step);
    case Form::kReduction:
    case Form::kManyReductions:
      run_reductions(region);
      break;
    case Form::kManyArguments:
    case Form::kFirstPrivate:
      run_with_arguments(region);
      break;
    case Form::kNoArguments:
      region_of_all = &region;
#pragma omp parallel
      run_body(*region_of_all);
      break;
    case Form::kInATask:
#pragma omp task if (0) shared(region)
    {
#pragma omp parallel shared(region)
      run_body(region);
    } break;
    default:
      run_with_clauses(region);
  }
  judge(region);
}

}  // namespace region_fuzzer
