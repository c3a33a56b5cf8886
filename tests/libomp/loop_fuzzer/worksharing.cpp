// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Worksharing loops without more to them, with each schedule.

#include "forms.hpp"

namespace loop_fuzzer::LOOP_FUZZER_COMPILER {

namespace {

#define VISIT(i) ledger.visit(iteration_of<T>(loop, i))
#define ALL_SCHEDULES(...)                                                    \
  switch (loop.schedule) {                                                    \
    LOOP_FUZZER_MONOTONIC_SCHEDULES(LOOP_FUZZER_FORMS, VISIT, __VA_ARGS__)    \
    LOOP_FUZZER_NONMONOTONIC_SCHEDULES(LOOP_FUZZER_FORMS, VISIT, __VA_ARGS__) \
  }

template <class T>
void run_for(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const int chunk = loop.chunk;
  ALL_SCHEDULES(omp for)
}

template <class T>
void run_nowait(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const int chunk = loop.chunk;
  ALL_SCHEDULES(omp for nowait)
}

template <class T>
void run_parallel_for(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const int chunk = loop.chunk, num_threads = loop.num_threads;
  ALL_SCHEDULES(omp parallel for num_threads(num_threads))
}

}  // namespace

void run_worksharing(const Loop& loop, Ledger& ledger) {
  with_type(loop.type, [&]<class T>() {
    if (loop.construct == Construct::kFor) run_for<T>(loop, ledger);
    if (loop.construct == Construct::kForNowait) run_nowait<T>(loop, ledger);
    if (loop.construct == Construct::kParallelFor) run_parallel_for<T>(loop, ledger);
  });
}

}  // namespace loop_fuzzer::LOOP_FUZZER_COMPILER
