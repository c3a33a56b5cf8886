// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/cpu_set.hpp"

namespace hierbar {

// A process, as /proc shows it.
struct Process {
  int pid = 0;
  int parent = 0;
  // Clock ticks after boot. With the pid and the boot id they name the process for ever.
  std::uint64_t start_ticks = 0;
  std::uint32_t user = 0;  // the effective one
  std::string name;        // of its program, cut to 15 characters by the kernel
  CpuSet cpus;             // what it may run on
};

// Nothing if there is no such process, or if it may not be seen (hidepid). `proc` is where /proc is
// mounted; tests use another place.
std::optional<Process> read_process(int pid, const std::string& proc = "/proc");

// A longer chain of parents means that /proc changes while it is read.
inline constexpr std::size_t kMaxAncestors = 256;

// The parent of this process, its parent and so on, as far as they can be seen.
std::vector<Process> read_ancestors(const std::string& proc = "/proc");

}  // namespace hierbar
