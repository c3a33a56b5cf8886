// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>

#include <chrono>
#include <climits>
#include <memory>
#include <thread>
#include <vector>

#include "ledger.hpp"
#include "program.hpp"
#include "threads.hpp"

// OpenMP's constructs cannot be made while a program runs. So there is a function for each kind of
// node, and a random tree of nodes calls them. Those of tasks come first, then those of the threads
// of a team.

namespace fuzzer {

// Where a thread is in the program: one for each implicit task and for each explicit one.
struct Context {
  Ledger& ledger;
  int phase;           // barriers of the team that came before
  const Group* group;  // the innermost taskgroup
  bool may_be_cancelled;
  Variables* variables = nullptr;  // what its tasks depend on
  std::vector<const Record*> children = {};
  std::vector<const Node*> open_workshares = {};  // whose end no barrier has shown yet
};

void run_node(Context& context, const Node& node);
void run(Context& context, const std::vector<Node>& nodes);
void run_region(const Node& node, bool may_be_cancelled);
void run_cancelled_region(const Node& node);

// ---- what stands in any context ----

inline void delay(int duration_us) {
  using Clock = std::chrono::steady_clock;
  if (duration_us > 500) return std::this_thread::sleep_for(std::chrono::microseconds(duration_us));
  for (const auto end = Clock::now() + std::chrono::microseconds(duration_us); Clock::now() < end;)
    continue;
}

inline void run_critical(const Node& node) {
  static int inside = 0;  // guarded by the section
#pragma omp critical(fuzzer)
  {
    require(++inside == 1, node, "two threads are in a critical section");
    --inside;
  }
}

// ---- one task ----

// What a task needs to know of its parent, which may end before it.
struct Start {
  Ledger& ledger;
  Record& record;
  int phase;
  const Group* group;
  bool may_be_cancelled;
};

inline Start* make_start(Context& context, const Node& node, bool may_be_cancelled) {
  Record* record = context.ledger.add(node, context.phase, context.group, may_be_cancelled);
  context.children.push_back(record);
  return new Start{context.ledger, *record, context.phase, context.group, may_be_cancelled};
}

// The body of a task whose record has begun. The caller completes it.
inline void run_body(const Start& start, const std::vector<Node>& nodes) {
  own_position.node() = start.record.node->id;
  Context context{start.ledger, start.phase, start.group, start.may_be_cancelled};
  run(context, nodes);
}

inline void run_task(Start* const raw_start) {
  const std::unique_ptr<Start> start(raw_start);
  start->record.begin();
  run_body(*start, start->record.node->body);
  start->record.complete_part();
}

inline void run_detached_task(Start* const raw_start, omp_event_handle_t event) {
  const std::unique_ptr<Start> start(raw_start);
  Record& record = start->record;
  record.begin();
  if (record.node->detach == Detach::kForeignThread)
    foreign_threads->fulfil(event, record, record.node->count);
  run_body(*start, record.node->body);
  if (record.node->detach == Detach::kItself) {
    record.complete_part();
    omp_fulfill_event(event);
  }
  record.complete_part();
}

// Before the task is created: which tasks come before it.
inline void note_dependence(Context& context, Record& record) {
  const Node& node = *record.node;
  if (context.variables == nullptr) context.variables = context.ledger.add_variables();
  Variable& variable = context.variables->all[node.choice];
  const bool overlaps = node.depend == Depend::kIn || node.depend == Depend::kMutexinoutset;
  if (!(overlaps && variable.last == node.depend))
    variable.newest_before = std::exchange(variable.newest, nullptr);
  variable.last = node.depend;
  record.variable = &variable;
  record.older = std::exchange(variable.newest, &record);
  record.newest_before = variable.newest_before;
}

#define FUZZER_PRAGMA(text) _Pragma(#text)
// A task in each form that has pragmas of its own; `depend_clause` is one clause or nothing.
#define FUZZER_CREATE_TASK(depend_clause)                                                        \
  if (node.detach != Detach::kNone && node.untied)                                               \
    FUZZER_PRAGMA(omp task untied if (!undeferred) final(is_final) priority(priority)            \
                      detach(event) depend_clause)                                               \
  run_detached_task(start, event);                                                               \
  else if (node.detach != Detach::kNone) FUZZER_PRAGMA(omp task if (!undeferred) final(          \
      is_final) priority(priority) detach(event) depend_clause) run_detached_task(start, event); \
  else if (node.untied) FUZZER_PRAGMA(omp task untied if (!undeferred) final(is_final)           \
                                          priority(priority) depend_clause) run_task(start);     \
  else if (node.mergeable) FUZZER_PRAGMA(omp task mergeable if (!undeferred) final(is_final)     \
                                             priority(priority) depend_clause) run_task(start);  \
  else FUZZER_PRAGMA(omp task if (!undeferred) final(is_final) priority(priority) depend_clause) \
      run_task(start)

inline void create_task(Context& context, const Node& node) {
  Start* const start = make_start(context, node, context.may_be_cancelled);
  Record& record = start->record;
  if (node.detach != Detach::kNone) record.num_parts_left = 2;
  if (node.depend != Depend::kNone) note_dependence(context, record);
  const bool undeferred = node.undeferred, is_final = node.final;
  const int priority = node.priority;
  omp_event_handle_t event{};
  [[maybe_unused]] char& variable =
      record.variable != nullptr ? record.variable->address : record.unused_address;
  switch (node.depend) {
    case Depend::kNone: {
      FUZZER_CREATE_TASK();
      break;
    }
    case Depend::kIn: {
      FUZZER_CREATE_TASK(depend(in : variable));
      break;
    }
    case Depend::kOut: {
      FUZZER_CREATE_TASK(depend(out : variable));
      break;
    }
    case Depend::kInout: {
      FUZZER_CREATE_TASK(depend(inout : variable));
      break;
    }
    case Depend::kMutexinoutset: {
      FUZZER_CREATE_TASK(depend(mutexinoutset : variable));
      break;
    }
  }
  if (node.detach != Detach::kOtherTask) return;
  Record* const other =
      context.ledger.add(node, context.phase, context.group, context.may_be_cancelled);
  context.children.push_back(other);
  Record* const detached = &record;
#pragma omp task firstprivate(event, other, detached)
  {
    require(other->num_executions.fetch_add(1) == 0, *other->node, "a task runs twice");
    detached->complete_part();
    omp_fulfill_event(event);
    other->complete_part();
  }
}

// ---- waits of tasks ----

inline void run_taskwait(Context& context) {
#pragma omp taskwait
  for (const Record* child : context.children) child->check("a taskwait");
  context.children.clear();
}

inline void run_taskgroup(Context& context, const Node& node) {
  const Group* const group = context.ledger.add_group(context.group);
  context.group = group;
#pragma omp taskgroup
  run(context, node.body);
  context.group = group->outer;
  context.ledger.check_tasks_of(*group);
}

// ---- constructs that make several tasks ----

inline void run_taskloop(Context& context, const Node& node) {
  const Group* const group = context.ledger.add_group(context.group);
  if (!node.nowait) context.group = group;
  std::vector<Start*> starts;
  for (int i = 0; i < node.count; ++i)
    starts.push_back(make_start(context, node, context.may_be_cancelled));
  Start** const data = starts.data();
  const std::size_t count = starts.size();
  if (node.nowait) {
    auto* const kept =
        new std::vector<Start*>(starts);  // the iterations may run when this function has ended
    auto* const left = new std::atomic<int>(node.count);
#pragma omp taskloop nogroup grainsize(2) firstprivate(kept, left)
    for (std::size_t i = 0; i < count; ++i) {
      run_task((*kept)[i]);
      if (--*left == 0) {
        delete kept;
        delete left;
      }
    }
  } else {
#pragma omp taskloop num_tasks(3) firstprivate(data)
    for (std::size_t i = 0; i < count; ++i) run_task(data[i]);
    context.group = group->outer;
    context.ledger.check_tasks_of(*group);
  }
}

inline void run_task_reduction(const Context& context, const Node& node) {
  long sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
  for (int i = 1; i <= node.count; ++i) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
    {
      sum += i;
#pragma omp task in_reduction(+ : sum)
      sum += 1000;
    }
  }
  const long expected = node.count * (node.count + 1L) / 2 + 1000L * node.count;
  require(sum == expected || context.may_be_cancelled, node,
          "the sum of a task reduction is wrong");
}

inline void run_cancelled_taskgroup(Context& context, const Node& node) {
  const Group* const group = context.ledger.add_group(context.group);
  context.group = group;
  const bool may_be_cancelled = context.may_be_cancelled || omp_get_cancellation() != 0;
  std::vector<std::unique_ptr<Start>> starts;
  for (int i = 0; i < node.count; ++i)
    starts.emplace_back(make_start(context, node, may_be_cancelled));
#pragma omp taskgroup
  for (int i = 0; i < node.count; ++i) {
    Start* const start = starts[i].get();
#pragma omp task firstprivate(start, i)
    {
      start->record.begin();
      run_body(*start, start->record.node->body);
      start->record.complete_part();
      if (i == start->record.node->choice) {
#pragma omp cancel taskgroup
      }
    }
  }
  context.group = group->outer;
  context.ledger.check_tasks_of(*group);
}

// ---- barriers ----

inline void before_barrier(Context& context) {
  context.ledger.arrive(omp_get_thread_num(), context.phase + 1);
}

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
        require(context.ledger.workshare(node).next_ordered.exchange(i + 1) == i, node,
                "ordered sections are out of order");
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
      require(context.ledger.workshare(node).num_executions[i].load() == 1, node,
              "a section did not run exactly once");
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
    require(!may_be_cancelled || omp_get_num_threads() == 1, node,
            "a thread passes the barrier of a region that was cancelled");
    after_barrier(context, "a barrier");
  }
  ledger.check_tasks_before(INT_MAX, "a region that was cancelled");
}

}  // namespace fuzzer
