// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>
#include <vector>

namespace fuzzer {

// What one node of a program does. The first group may only stand in the body of a region, where
// every thread of the team runs it. The second may stand anywhere.
enum class Kind {
  kBarrier,
  kLoop,           // a worksharing loop; each iteration runs the body
  kReductionLoop,  // a worksharing loop with a reduction
  kSingle,
  kSections,
  kOneThread,   // the thread `choice` modulo the team's size runs the body, the others go on
  kCancelLoop,  // the loop is cancelled in the middle
  kTask,
  kTaskwait,
  kTaskgroup,
  kCancelGroup,  // a taskgroup that one of its tasks cancels
  kTaskloop,
  kTaskReduction,
  kCritical,
  kYield,
  kDelay,
  kRegion,
  kCancelRegion,  // a region that the thread `choice` modulo the team's size cancels after the body
};
inline constexpr int kNumKinds = static_cast<int>(Kind::kCancelRegion) + 1;
inline constexpr int kFirstTaskKind = static_cast<int>(Kind::kTask);

enum class Schedule { kStatic, kDynamic, kGuided, kOrdered };
inline constexpr int kNumSchedules = 4;

enum class Depend { kNone, kIn, kOut, kInout, kMutexinoutset };
inline constexpr int kNumDepends = 5;

// Who fulfils the event of a detached task.
enum class Detach {
  kNone,
  kItself,
  kForeignThread,  // one that libomp does not know, while the body runs or later
  kOtherTask,      // a sibling, in whatever thread runs it
};
inline constexpr int kNumDetaches = 4;

struct Node {
  Kind kind = Kind::kBarrier;
  int id = 0;      // unique in the program, in the order in which it is printed
  int count = 0;   // threads, iterations, tasks or microseconds
  int choice = 0;  // which thread, iteration or variable
  bool nowait = false;
  Schedule schedule = Schedule::kStatic;

  // of a task
  bool untied = false;
  bool mergeable = false;
  bool undeferred = false;
  bool final = false;
  int priority = 0;
  Depend depend = Depend::kNone;
  Detach detach = Detach::kNone;

  std::vector<Node> body;
};

// Each root is a thread of the program with teams of its own, and runs its nodes in order.
struct Program {
  std::vector<std::vector<Node>> roots;
  int num_nodes = 0;
};

inline const char* name_of(Kind kind) {
  static constexpr const char* kNames[] = {
      "barrier",        "loop",         "reduction loop",   "single",
      "sections",       "one thread",   "cancel loop",      "task",
      "taskwait",       "taskgroup",    "cancel taskgroup", "taskloop",
      "task reduction", "critical",     "taskyield",        "delay",
      "region",         "cancel region"};
  static_assert(sizeof kNames / sizeof *kNames == kNumKinds);
  return kNames[static_cast<int>(kind)];
}

inline void print(std::FILE* out, const Node& node, int depth) {
  static constexpr const char* kSchedules[] = {"static", "dynamic", "guided", "ordered"};
  static constexpr const char* kDepends[] = {"", "in", "out", "inout", "mutexinoutset"};
  static constexpr const char* kDetaches[] = {"", "by itself", "by a foreign thread",
                                              "by another task"};
  std::fprintf(out, "%*s%d %s count=%d choice=%d", 2 * depth, "", node.id, name_of(node.kind),
               node.count, node.choice);
  if (node.kind == Kind::kLoop)
    std::fprintf(out, " %s", kSchedules[static_cast<int>(node.schedule)]);
  if (node.nowait) std::fputs(" nowait", out);
  if (node.untied) std::fputs(" untied", out);
  if (node.mergeable) std::fputs(" mergeable", out);
  if (node.undeferred) std::fputs(" undeferred", out);
  if (node.final) std::fputs(" final", out);
  if (node.priority != 0) std::fprintf(out, " priority=%d", node.priority);
  if (node.depend != Depend::kNone)
    std::fprintf(out, " depend=%s", kDepends[static_cast<int>(node.depend)]);
  if (node.detach != Detach::kNone)
    std::fprintf(out, " fulfilled %s", kDetaches[static_cast<int>(node.detach)]);
  std::fputc('\n', out);
  for (const Node& inner : node.body) print(out, inner, depth + 1);
}

inline void print(std::FILE* out, const Program& program) {
  for (std::size_t i = 0; i < program.roots.size(); ++i) {
    std::fprintf(out, "root %zu\n", i);
    for (const Node& node : program.roots[i]) print(out, node, 1);
  }
}

}  // namespace fuzzer
