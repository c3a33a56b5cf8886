// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/launcher.hpp"

namespace hierbar {

// A process that a launcher started on this node, seen from outside.
struct NodeRank {
  Launch launch;
  std::uint32_t rank = 0;  // in the whole job if its launcher tells, else on the node
  Process process;
  Environment environment;  // as the process was started with
};

// The environment with which a process was started. Nothing if there is no such process or it is another user's.
std::optional<Environment> environment_of(int pid);

// The ranks below the process `root`, by local rank; those of one launch when `job_key` is not empty. A rank may be several
// processes, a script that runs the program or a program that runs others: the one with the most threads stands for it, among
// equals the innermost.
std::vector<NodeRank> find_node_ranks(int root, const std::string& job_key = "");

// The file that a process runs; empty if that cannot be seen.
std::string program_of(int pid);

}  // namespace hierbar
