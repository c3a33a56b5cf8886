// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "foreign_threads.hpp"
#include "interpret.hpp"

namespace fuzzer {

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
  if (record.node->detach == Detach::kForeignThread) foreign_threads->fulfil(event, record, record.node->count);
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
  if (!(overlaps && variable.last == node.depend)) variable.newest_before = std::exchange(variable.newest, nullptr);
  variable.last = node.depend;
  record.variable = &variable;
  record.older = std::exchange(variable.newest, &record);
  record.newest_before = variable.newest_before;
}

#define FUZZER_PRAGMA(text) _Pragma(#text)
// A task in each form that has pragmas of its own; `depend_clause` is one clause or nothing.
#define FUZZER_CREATE_TASK(depend_clause)                                                                                      \
  if (node.detach != Detach::kNone && node.untied)                                                                             \
    FUZZER_PRAGMA(omp task untied if (!undeferred) final(is_final) priority(priority) detach(event) depend_clause)             \
  run_detached_task(start, event);                                                                                             \
  else if (node.detach != Detach::kNone) FUZZER_PRAGMA(omp task if (!undeferred) final(is_final) priority(priority)            \
                                                           detach(event) depend_clause) run_detached_task(start, event);       \
  else if (node.untied) FUZZER_PRAGMA(omp task untied if (!undeferred) final(is_final) priority(priority) depend_clause)       \
      run_task(start);                                                                                                         \
  else if (node.mergeable) FUZZER_PRAGMA(omp task mergeable if (!undeferred) final(is_final) priority(priority) depend_clause) \
      run_task(start);                                                                                                         \
  else FUZZER_PRAGMA(omp task if (!undeferred) final(is_final) priority(priority) depend_clause) run_task(start)

inline void create_task(Context& context, const Node& node) {
  Start* const start = make_start(context, node, context.may_be_cancelled);
  Record& record = start->record;
  if (node.detach != Detach::kNone) record.num_parts_left = 2;
  if (node.depend != Depend::kNone) note_dependence(context, record);
  const bool undeferred = node.undeferred, is_final = node.final;
  const int priority = node.priority;
  omp_event_handle_t event{};
  [[maybe_unused]] char& variable = record.variable != nullptr ? record.variable->address : record.unused_address;
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
  Record* const other = context.ledger.add(node, context.phase, context.group, context.may_be_cancelled);
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
  for (int i = 0; i < node.count; ++i) starts.push_back(make_start(context, node, context.may_be_cancelled));
  Start** const data = starts.data();
  const std::size_t count = starts.size();
  if (node.nowait) {
    auto* const kept = new std::vector<Start*>(starts);  // the iterations may run when this function has ended
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
  require(sum == expected || context.may_be_cancelled, node, "the sum of a task reduction is wrong");
}

inline void run_cancelled_taskgroup(Context& context, const Node& node) {
  const Group* const group = context.ledger.add_group(context.group);
  context.group = group;
  const bool may_be_cancelled = context.may_be_cancelled || omp_get_cancellation() != 0;
  std::vector<std::unique_ptr<Start>> starts;
  for (int i = 0; i < node.count; ++i) starts.emplace_back(make_start(context, node, may_be_cancelled));
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

}  // namespace fuzzer
