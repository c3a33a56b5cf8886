// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include "base/random_id.hpp"

namespace hierbar {

// Names one process among all that ever ran on this kernel, as far as one process can tell: its number is only good in its pid
// namespace, and is used again after its end.
struct ProcessName {
  std::uint64_t pid_namespace;
  std::uint64_t start_time;  // clock ticks after boot; 0: unknown, for instance because the process is gone
  std::int32_t pid;
};

ProcessName own_process();

// The start time of any process of the own pid namespace, and its state as a word ("running", "sleeping", ...).
std::uint64_t start_time_of(std::int32_t pid);
std::string state_of(std::int32_t pid, std::uint64_t start_time);
// Whether that process can still do something: a killed one that nobody has waited for cannot.
bool is_alive(std::int32_t pid, std::uint64_t start_time);

// What two processes have in common exactly when they can share memory under /dev/shm: the kernel (boot id), the namespaces that
// decide what a path and a permission mean, and the file system that is mounted there. Host names say nothing: containers choose
// theirs, and clones of one machine share it.
struct NodeKey {
  std::uint64_t words[2];

  friend bool operator==(const NodeKey& a, const NodeKey& b) { return a.words[0] == b.words[0] && a.words[1] == b.words[1]; }
};

// The key with one more thing mixed in: which of several pretended nodes this process is on.
NodeKey read_node_key(std::uint64_t fake_node);

}  // namespace hierbar
