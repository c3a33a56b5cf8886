// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/cpu_set.hpp"

namespace hierbar {

// A process as /proc shows it.
struct Process {
  int pid = 0;
  int parent = 0;
  std::uint64_t start_ticks = 0;  // since boot; with pid and boot id it names the process for good
  std::uint32_t user = 0;         // effective
  std::string name;               // what it runs, cut to 15 characters by the kernel
  CpuSet cpus;                    // what it may run on
};

// `proc` is where /proc is, for tests.
//
// Nothing if there is no such process or it may not be seen (hidepid).
std::optional<Process> read_process(int pid, const std::string& proc = "/proc");

// The parent of this process, its parent and so on, as far as they can be seen.
std::vector<Process> read_ancestors(const std::string& proc = "/proc");

// Names this boot of this kernel, which all containers of a node share. Empty if it cannot be read.
std::string read_boot_id(const std::string& proc = "/proc");

}  // namespace hierbar
