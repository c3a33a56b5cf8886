// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <climits>

#include "interpret.hpp"

namespace fuzzer {

// ---- barriers ----

inline void before_barrier(Context& context) { context.ledger.arrive(omp_get_thread_num(), context.phase + 1); }

// All threads have come, and what was created before is complete.
inline void after_barrier(Context& context, const char* where) {
  ++context.phase;
  context.ledger.check_arrivals(omp_get_num_threads(), context.phase);
  context.ledger.check_tasks_before(context.phase, where);
  for (const Node* node : context.open_workshares) context.ledger.workshare(*node).check(*node);
  context.open_workshares.clear();
  context.children.clear();
}

inline void run_barrier(Context& context) {
  before_barrier(context);
#pragma omp barrier
  after_barrier(context, "a barrier");
}

// ---- worksharing ----

inline void run_iteration(Context& context, const Node& node, int i) {
  ++context.ledger.workshare(node).num_executions[i];
  run(context, node.body);
}

inline void run_loop_nowait(Context& context, const Node& node) {
  const int count = node.count;
  switch (node.schedule) {
    case Schedule::kStatic:
#pragma omp for schedule(static) nowait
      for (int i = 0; i < count; ++i) run_iteration(context, node, i);
      break;
    case Schedule::kDynamic:
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < count; ++i) run_iteration(context, node, i);
      break;
    case Schedule::kGuided:
#pragma omp for schedule(guided) nowait
      for (int i = 0; i < count; ++i) run_iteration(context, node, i);
      break;
    case Schedule::kOrdered:
#pragma omp for ordered schedule(dynamic) nowait
      for (int i = 0; i < count; ++i) {
        run_iteration(context, node, i);
#pragma omp ordered
        require(context.ledger.workshare(node).next_ordered.exchange(i + 1) == i, node, "ordered sections are out of order");
      }
      break;
  }
}

inline void run_loop(Context& context, const Node& node) {
  context.open_workshares.push_back(&node);
  run_loop_nowait(context, node);
  if (!node.nowait) run_barrier(context);
}

inline void run_cancelled_loop(Context& context, const Node& node) {
  Workshare& workshare = context.ledger.workshare(node);
  before_barrier(context);
  // Static: of a dynamic loop that was cancelled, libomp keeps the buffer, and it has only seven.
#pragma omp for schedule(static, 1)
  for (int i = 0; i < node.count; ++i) {
    require(workshare.num_executions[i].fetch_add(1) == 0, node, "an iteration runs twice");
    if (i == node.choice) {
#pragma omp cancel for
    }
#pragma omp cancellation point for
  }
  after_barrier(context, "a loop that was cancelled");
  if (!omp_get_cancellation()) workshare.check(node);
}

inline void run_single(Context& context, const Node& node) {
  std::atomic<int>& num_executions = context.ledger.workshare(node).num_executions[0];
  const auto body = [&] {
    require(num_executions.fetch_add(1) == 0, node, "two threads run a single construct");
    run(context, node.body);
  };
  if (node.nowait) {
#pragma omp single nowait
    body();
    return;
  }
  before_barrier(context);
#pragma omp single
  body();
  after_barrier(context, "a single construct");
  require(num_executions.load() == 1, node, "no thread ran a single construct");
}

inline void run_sections(Context& context, const Node& node) {
#pragma omp sections nowait
  {
    {
      run_iteration(context, node, 0);
    }
#pragma omp section
    {
      run_iteration(context, node, 1);
    }
#pragma omp section
    {
      run_iteration(context, node, 2);
    }
  }
  if (!node.nowait) {
    run_barrier(context);
    for (int i = 0; i < 3; ++i)
      require(context.ledger.workshare(node).num_executions[i].load() == 1, node, "a section did not run exactly once");
  }
}

inline void run_one_thread(Context& context, const Node& node) {
  if (omp_get_thread_num() == node.choice % omp_get_num_threads()) run(context, node.body);
}

// ---- regions ----

inline void run_region(const Node& node, bool may_be_cancelled) {
  Ledger ledger(node, node.count);
  long sum = 0;
#pragma omp parallel num_threads(node.count)
  {
    Context context{ledger, 0, nullptr, may_be_cancelled};
    long expected = 0;
    for (const Node& inner : node.body) {
      if (inner.kind != Kind::kReductionLoop) {
        run_node(context, inner);
        continue;
      }
      before_barrier(context);
#pragma omp for reduction(+ : sum)
      for (int i = 1; i <= inner.count; ++i) sum += i;
      after_barrier(context, "a reduction");
      expected += inner.count * (inner.count + 1L) / 2;
      require(sum == expected, inner, "the sum of a reduction is wrong");
      run_barrier(context);  // before the next reduction changes it
    }
    before_barrier(context);
  }
  ledger.check_tasks_before(INT_MAX, "a region");
}

inline void run_cancelled_region(const Node& node) {
  Ledger ledger(node, node.count);
  const bool may_be_cancelled = omp_get_cancellation() != 0;
#pragma omp parallel num_threads(node.count)
  {
    Context context{ledger, 0, nullptr, true};
    run(context, node.body);
    if (omp_get_thread_num() == node.choice % omp_get_num_threads()) {
#pragma omp cancel parallel
    }
    before_barrier(context);
#pragma omp barrier
    // Neither GCC's library nor LLVM's for GCC's programs cancels a region of one thread.
    require(!may_be_cancelled || omp_get_num_threads() == 1, node, "a thread passes the barrier of a region that was cancelled");
    after_barrier(context, "a barrier");
  }
  ledger.check_tasks_before(INT_MAX, "a region that was cancelled");
}

}  // namespace fuzzer
