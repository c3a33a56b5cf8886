// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/program/program.hpp"
#include "placement/decision/findings.hpp"

namespace hierbar {

// What was seen of a command while it ran.
struct WatchedRun {
  struct Process {
    std::string program;
    std::vector<std::string> libraries;  // paths, in the order in which they were initialised
  };
  std::vector<Process> processes;  // all of this node that the command started, also short ones
  std::vector<RankView> ranks;     // their threads and cpus, when there were the most threads
  bool was_stopped = false;        // the time was up
  int exit_code = 0;               // otherwise the command's; 128 and the number of a signal
};

// Runs the command for at most `most`, then ends it and what it started. Its stdout goes to stderr.
//
// The loader itself records what it loads (LD_DEBUG=libs), so nothing is missed that is opened and
// closed between two looks at /proc, in processes that end early, or by dlopen().
//
// Errors: no process or no temporary directory can be made.
Result<WatchedRun> watch_run(const Program& command, std::chrono::milliseconds most);

}  // namespace hierbar
