// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/evidence/launcher.hpp"

namespace hierbar {

// A process that a launcher started on this node, as other processes see it.
struct NodeRank {
  Launch launch;
  // The rank in the whole job if the launcher tells it, otherwise the rank on the node.
  std::uint32_t rank = 0;
  Process process;
  // The environment with which the process was started.
  Environment environment;
};

// The environment with which a process was started. Nothing if there is no such process, or if it
// is another user's.
std::optional<Environment> environment_of(int pid);

// The ranks below the process `root`, by local rank. If `job_key` is not empty, only the ranks of
// that launch. A rank may be several processes: a script that runs the program, or a program that
// runs others. The one with the most threads stands for it, among equals the innermost one.
std::vector<NodeRank> find_node_ranks(int root, const std::string& job_key = "");

// The file that a process runs; empty if that cannot be seen.
std::string program_of(int pid);

}  // namespace hierbar
