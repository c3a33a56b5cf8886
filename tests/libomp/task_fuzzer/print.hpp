// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>

#include "program.hpp"

namespace fuzzer {

inline const char* name_of(Kind kind) {
  static constexpr const char* kNames[] = {
      "barrier",        "loop",     "reduction loop", "single",    "sections",         "one thread",
      "cancel loop",    "task",     "taskwait",       "taskgroup", "cancel taskgroup", "taskloop",
      "task reduction", "critical", "taskyield",      "delay",     "region",           "cancel region"};
  static_assert(sizeof kNames / sizeof *kNames == kNumKinds);
  return kNames[static_cast<int>(kind)];
}

inline void print(std::FILE* out, const Node& node, int depth) {
  static constexpr const char* kSchedules[] = {"static", "dynamic", "guided", "ordered"};
  static constexpr const char* kDepends[] = {"", "in", "out", "inout", "mutexinoutset"};
  static constexpr const char* kDetaches[] = {"", "by itself", "by a foreign thread", "by another task"};
  std::fprintf(out, "%*s%d %s count=%d choice=%d", 2 * depth, "", node.id, name_of(node.kind), node.count, node.choice);
  if (node.kind == Kind::kLoop) std::fprintf(out, " %s", kSchedules[static_cast<int>(node.schedule)]);
  if (node.nowait) std::fputs(" nowait", out);
  if (node.untied) std::fputs(" untied", out);
  if (node.mergeable) std::fputs(" mergeable", out);
  if (node.undeferred) std::fputs(" undeferred", out);
  if (node.final) std::fputs(" final", out);
  if (node.priority != 0) std::fprintf(out, " priority=%d", node.priority);
  if (node.depend != Depend::kNone) std::fprintf(out, " depend=%s", kDepends[static_cast<int>(node.depend)]);
  if (node.detach != Detach::kNone) std::fprintf(out, " fulfilled %s", kDetaches[static_cast<int>(node.detach)]);
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
