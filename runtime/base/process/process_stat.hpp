// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hierbar {

// What /proc/<pid>/stat tells about a process.
struct ProcessStat {
  std::string name;  // of its program, cut to 15 characters by the kernel
  char state = 0;    // R, S, D, T, Z, ...: see proc(5)
  int parent = 0;
  std::uint64_t start_ticks = 0;  // clock ticks after boot
};

// Nothing if there is no such process, or not any more. `proc` is where /proc is mounted.
std::optional<ProcessStat> read_process_stat(int pid, const std::string& proc = "/proc");

// Names this boot of this kernel. All containers of a node have the same name. Empty if it cannot
// be read.
std::string read_boot_id(const std::string& proc = "/proc");

}  // namespace hierbar
