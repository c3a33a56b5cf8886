// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops whose iterations wait for earlier ones: ordered regions, and dependences between iterations
// (doacross).

#include "forms.hpp"

namespace loop_fuzzer::LOOP_FUZZER_COMPILER {

namespace {

// Binds to the loop that calls it.
void visit_in_order(Ledger& ledger, std::uint64_t iteration) {
#pragma omp ordered
  ledger.visit_in_order(iteration);
}

#define VISIT_IN_ORDER(i) visit_in_order(ledger, iteration_of<T>(loop, i))

template <class T>
void run_ordered_regions(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const int chunk = loop.chunk;
  switch (loop.schedule) {
    LOOP_FUZZER_MONOTONIC_SCHEDULES(LOOP_FUZZER_FORMS, VISIT_IN_ORDER, omp for ordered)
    default:
      break;  // the generator draws no other
  }
}

// A dependence names an iteration by a constant distance, so the loops have a step of one.
#define DOACROSS_FORMS(BODY, ...)                          \
  if (loop.form == Form::kUpTo) {                          \
    LOOP_FUZZER_PRAGMA(__VA_ARGS__)                        \
    for (T i = first; i != end; ++i) {                     \
      LOOP_FUZZER_PRAGMA(omp ordered depend(sink : i - 1)) \
      BODY(i);                                             \
      LOOP_FUZZER_PRAGMA(omp ordered depend(source))       \
    }                                                      \
  } else {                                                 \
    LOOP_FUZZER_PRAGMA(__VA_ARGS__)                        \
    for (T i = first; i != end; --i) {                     \
      LOOP_FUZZER_PRAGMA(omp ordered depend(sink : i + 1)) \
      BODY(i);                                             \
      LOOP_FUZZER_PRAGMA(omp ordered depend(source))       \
    }                                                      \
  }

#define VISIT_AFTER(i) ledger.visit_after_its_predecessor(iteration_of<T>(loop, i))

template <class T>
void run_doacross(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const int chunk = loop.chunk;
  switch (loop.schedule) {
    LOOP_FUZZER_MONOTONIC_SCHEDULES(DOACROSS_FORMS, VISIT_AFTER, omp for ordered(1))
    default:
      break;
  }
}

}  // namespace

void run_ordered(const Loop& loop, Ledger& ledger) {
  with_type(loop.type, [&]<class T>() {
    if (loop.construct == Construct::kOrdered) run_ordered_regions<T>(loop, ledger);
    if constexpr (!std::is_same_v<T, Iterator>) {
      if (loop.construct == Construct::kDoacross) run_doacross<T>(loop, ledger);
    }
  });
}

}  // namespace loop_fuzzer::LOOP_FUZZER_COMPILER
