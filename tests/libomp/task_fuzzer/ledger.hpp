// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "program.hpp"

namespace fuzzer {

// What is running, for whoever finds that it runs wrong.
struct Running {
  std::atomic<std::uint64_t> seed{0};
  std::atomic<const Program*> program{nullptr};
  std::atomic<long> num_done{0};  // programs
};
inline Running running;

// Where the threads are. Each writes its own entry.
struct Position {
  std::atomic<bool> in_use{false};
  std::atomic<int> node{-1};
};
inline std::array<Position, 512> positions;

class OwnPosition {
 public:
  OwnPosition() {
    while (index_ + 1 < positions.size() && positions[index_].in_use.exchange(true)) ++index_;
  }
  ~OwnPosition() { positions[index_].in_use = false; }
  OwnPosition(const OwnPosition&) = delete;
  OwnPosition& operator=(const OwnPosition&) = delete;

  std::atomic<int>& node() { return positions[index_].node; }

 private:
  std::size_t index_ = 0;
};
inline thread_local OwnPosition own_position;

inline void report(const char* what) {
  std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(running.seed.load()),
               what);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    for (const char* prefix : {"OMP_", "KMP_", "HIERBAR_"}) {
      if (std::strncmp(*variable, prefix, std::strlen(prefix)) == 0)
        std::fprintf(stderr, "  %s\n", *variable);
    }
  }
  if (const Program* program = running.program.load()) print(stderr, *program);
  std::fputs("nodes that threads are at:", stderr);
  for (const Position& position : positions) {
    if (position.in_use) std::fprintf(stderr, " %d", position.node.load());
  }
  std::fputc('\n', stderr);
}

// Ends the process when the condition is false.
inline void require(bool condition, const Node& node, const char* what, const char* where = "") {
  if (condition) return;
  char text[200];
  std::snprintf(text, sizeof text, "node %d (%s): %s %s", node.id, name_of(node.kind), what, where);
  report(text);
  std::_Exit(1);
}

// The ledger of one execution of a region: what its threads and tasks have done. Its values are
// checked behind every barrier.

// The tasks around which one taskgroup is.
struct Group {
  const Group* outer;
  Group* next = nullptr;

  bool is_in(const Group& other) const {
    for (const Group* group = this; group != nullptr; group = group->outer) {
      if (group == &other) return true;
    }
    return false;
  }
};

struct Record;

// What the tasks of one parent depend on. Consecutive tasks that may overlap are one generation;
// each out or inout task is one of its own. A generation begins when the one before it is complete.
struct Variable {
  char address = 0;  // only named in clauses
  std::atomic<int> num_exclusive{
      0};  // tasks with mutexinoutset that are running or not yet complete

  // Only the parent reads and writes these.
  Record* newest = nullptr;         // of the present generation
  Record* newest_before = nullptr;  // of the one before
  Depend last = Depend::kNone;
};

struct Variables {
  std::array<Variable, 2> all;
  Variables* next = nullptr;
};

// One task that was created. It is complete when its body has ended and, if it was detached, its
// event is fulfilled.
struct Record {
  const Node* node;
  int phase;  // how many barriers of the team came before it
  const Group* group;
  bool may_be_cancelled;
  std::atomic<int> num_executions{0};
  std::atomic<int> num_parts_left{1};
  Variable* variable = nullptr;
  Record* older = nullptr;          // in its generation
  Record* newest_before = nullptr;  // in the generation before
  Record* next = nullptr;
  char unused_address = 0;

  static constexpr int kDiscarded = 1000;  // executions of a task that must not begin any more

  bool is_complete() const { return num_parts_left.load() == 0; }
  // For those that depend on it. If it may be cancelled and has not begun, it counts as discarded.
  bool is_over() {
    int times = 0;
    return is_complete() ||
           (may_be_cancelled &&
            (num_executions.compare_exchange_strong(times, kDiscarded) || times == kDiscarded));
  }

  void begin() {
    require(num_executions.fetch_add(1) == 0, *node,
            "a task runs twice, or after one that depends on it");
    for (Record* record = newest_before; record != nullptr; record = record->older)
      require(record->is_over(), *node, "a task begins before one that it depends on is complete");
    if (node->depend == Depend::kMutexinoutset && variable != nullptr)
      require(variable->num_exclusive.fetch_add(1) == 0, *node,
              "two tasks of a mutexinoutset run together");
  }
  // Called before libomp learns of it.
  void complete_part() {
    const int left = num_parts_left.fetch_sub(1) - 1;
    require(left >= 0, *node, "a task ends twice");
    if (left == 0 && node->depend == Depend::kMutexinoutset && variable != nullptr)
      --variable->num_exclusive;
  }
  // Where it must be complete.
  void check(const char* where) const {
    const int times = num_executions.load();
    if (may_be_cancelled && (times == 0 || times == kDiscarded)) return;
    require(times <= 1, *node, "a task ran twice");
    require(times == 1, *node, "a task did not run before the end of", where);
    require(is_complete(), *node, "a task is not complete at the end of", where);
  }
};

// What the threads of a team share of one worksharing construct.
struct Workshare {
  static constexpr int kMaxIterations = 32;

  std::array<std::atomic<int>, kMaxIterations> num_executions{};
  std::atomic<int> next_ordered{0};

  void check(const Node& node) const {
    for (int i = 0; i < node.count; ++i)
      require(num_executions[i].load() == 1, node, "an iteration did not run exactly once");
  }
};

class Ledger {
 public:
  Ledger(const Node& region, int max_threads)
      : region_(region), slots_(max_threads), workshares_(count(region.body)) {}
  ~Ledger() {
    for (Record* record = records_.load(); record != nullptr;)
      delete std::exchange(record, record->next);
    for (Variables* variables = variables_.load(); variables != nullptr;)
      delete std::exchange(variables, variables->next);
    for (Group* group = groups_.load(); group != nullptr;) delete std::exchange(group, group->next);
  }
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  const Node& region() const { return region_; }
  Workshare& workshare(const Node& node) { return workshares_[node.id - region_.id]; }

  // ---- tasks ----

  Record* add(const Node& node, int phase, const Group* group, bool may_be_cancelled) {
    return push(records_, new Record{&node, phase, group, may_be_cancelled});
  }
  // Records name their groups and variables, so these are kept.
  Variables* add_variables() { return push(variables_, new Variables); }
  const Group* add_group(const Group* outer) { return push(groups_, new Group{outer}); }

  // Those that were created before the barrier with that number.
  void check_tasks_before(int phase, const char* where) const {
    for_each_record([=](const Record& record) {
      if (record.phase < phase) record.check(where);
    });
  }
  void check_tasks_of(const Group& group) const {
    for_each_record([&](const Record& record) {
      if (record.group != nullptr && record.group->is_in(group)) record.check("their taskgroup");
    });
  }

  // ---- threads ----

  void arrive(int thread, int phase) { slots_[thread].store(phase, std::memory_order_relaxed); }
  void check_arrivals(int num_threads, int phase) const {
    for (int i = 0; i < num_threads; ++i)
      require(slots_[i].load(std::memory_order_relaxed) >= phase, region_,
              "a thread leaves a barrier before another has come");
  }

 private:
  static int count(const std::vector<Node>& nodes) {
    int sum = 1;
    for (const Node& node : nodes) sum += count(node.body);
    return sum;
  }
  template <class Element>
  static Element* push(std::atomic<Element*>& list, Element* element) {
    element->next = list.load();
    while (!list.compare_exchange_weak(element->next, element)) continue;
    return element;
  }
  template <class Visit>
  void for_each_record(Visit&& visit) const {
    for (const Record* record = records_.load(); record != nullptr; record = record->next)
      visit(*record);
  }

  const Node& region_;
  std::vector<std::atomic<int>> slots_;  // of each thread: the last barrier that it came to
  std::vector<Workshare> workshares_;    // by the node's number, from that of the region on
  std::atomic<Record*> records_{nullptr};
  std::atomic<Variables*> variables_{nullptr};
  std::atomic<Group*> groups_{nullptr};
};

}  // namespace fuzzer
