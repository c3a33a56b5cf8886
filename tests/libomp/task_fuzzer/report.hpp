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

#include "print.hpp"
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
  std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(running.seed.load()), what);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    for (const char* prefix : {"OMP_", "KMP_", "HIERBAR_"}) {
      if (std::strncmp(*variable, prefix, std::strlen(prefix)) == 0) std::fprintf(stderr, "  %s\n", *variable);
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

}  // namespace fuzzer
