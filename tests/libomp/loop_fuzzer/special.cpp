// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Worksharing loops with a clause or a construct for which compilers call other functions:
// collapse, reduction with the modifier `task`, cancellation.

#include "forms.hpp"

namespace loop_fuzzer::LOOP_FUZZER_COMPILER {

namespace {

#define FEW_SCHEDULES(FORMS, BODY, ...)                 \
  switch (loop.schedule) {                              \
    LOOP_FUZZER_FEW_SCHEDULES(FORMS, BODY, __VA_ARGS__) \
    default:                                            \
      break; /* the generator draws no other */         \
  }

// Both loops are of the same form.
#define NEST(outer_test, outer_step, inner_test, inner_step) \
  for (T i = first; outer_test; outer_step)                  \
    for (T j = inner_first; inner_test; inner_step) visit_both(loop, ledger, i, j)
#define COLLAPSED_FORMS(BODY, ...)                                                                \
  switch (loop.form) {                                                                            \
    case Form::kLess:                                                                             \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) NEST(i < end, i += step, j < inner_end, j += inner_step);   \
      break;                                                                                      \
    case Form::kLessEqual:                                                                        \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) NEST(i <= end, i += step, j <= inner_end, j += inner_step); \
      break;                                                                                      \
    case Form::kUpTo:                                                                             \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) NEST(i != end, ++i, j != inner_end, ++j);                   \
      break;                                                                                      \
    case Form::kGreater:                                                                          \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) NEST(i > end, i -= step, j > inner_end, j -= inner_step);   \
      break;                                                                                      \
    case Form::kGreaterEqual:                                                                     \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) NEST(i >= end, i -= step, j >= inner_end, j -= inner_step); \
      break;                                                                                      \
    case Form::kDownTo:                                                                           \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) NEST(i != end, --i, j != inner_end, --j);                   \
      break;                                                                                      \
    case Form::kGreaterPlus:                                                                      \
      if constexpr (!std::is_unsigned_v<T>) {                                                     \
        LOOP_FUZZER_PRAGMA(__VA_ARGS__)                                                           \
        NEST(i > end, i += minus_step, j > inner_end, j -= inner_step);                           \
      }                                                                                           \
      break;                                                                                      \
  }

template <class T>
__attribute__((noinline)) void visit_both(const Loop& loop, Ledger& ledger, const T& outer,
                                          const T& inner) {
  const std::uint64_t row = find_iteration(loop.outer, loop.form, outer);
  const std::uint64_t column = find_iteration(loop.inner, loop.form, inner);
  ledger.visit(row < loop.outer.count && column < loop.inner.count ? row * loop.inner.count + column
                                                                   : loop.count());
}

template <class T>
void run_collapsed(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const T inner_first = Values<T>::make(loop.inner.first),
          inner_end = Values<T>::make(loop.inner.end);
  const auto inner_step = static_cast<Step>(loop.inner.step);
  const int chunk = loop.chunk;
  FEW_SCHEDULES(COLLAPSED_FORMS, , omp for collapse(2))
}

#define ADD(i)                                              \
  const std::uint64_t iteration = iteration_of<T>(loop, i); \
  ledger.visit(iteration);                                  \
  reduction_sum += static_cast<long>(iteration + 1)

template <class T>
void run_reduction(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const int chunk = loop.chunk;
#pragma omp single
  reduction_sum = 0;
  FEW_SCHEDULES(LOOP_FUZZER_FORMS, ADD, omp for reduction(task, + : reduction_sum))
#pragma omp single
  ledger.sum = reduction_sum;
}

#define VISIT_OR_CANCEL(i)                                  \
  const std::uint64_t iteration = iteration_of<T>(loop, i); \
  ledger.visit(iteration);                                  \
  if (iteration == loop.cancel_at) {                        \
    LOOP_FUZZER_PRAGMA(omp cancel for)                      \
  }                                                         \
  LOOP_FUZZER_PRAGMA(omp cancellation point for)

template <class T>
void run_cancelled(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const int chunk = loop.chunk;
  FEW_SCHEDULES(LOOP_FUZZER_FORMS, VISIT_OR_CANCEL, omp for)
}

}  // namespace

void run_special(const Loop& loop, Ledger& ledger) {
  with_type(loop.type, [&]<class T>() {
    if (loop.construct == Construct::kCollapse) run_collapsed<T>(loop, ledger);
    if (loop.construct == Construct::kReduction) run_reduction<T>(loop, ledger);
    if (loop.construct == Construct::kCancelFor) run_cancelled<T>(loop, ledger);
  });
}

}  // namespace loop_fuzzer::LOOP_FUZZER_COMPILER
