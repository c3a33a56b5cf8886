// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "cli/instances/instance_process.hpp"

namespace hierbar {

struct InstanceEnd {
  int exit_code = 0;  // the program's, or 128 and the number of the signal that ended it
  int signal = 0;     // that number; 0 if it ended by itself
};

struct InstancesRun {
  std::vector<InstanceEnd> ends;  // of those that were started, by instance
  int exit_code = 0;              // of the first that failed
};

// Runs instances side by side as children of this process until all have ended. This process sleeps
// in poll() but for what has to be done, so instances that write to files have all cpus.
//
// An instance is its process group. What its first process leaves behind there is ended too, and so
// is everything if this process is killed. A process that leaves the group (setsid) is not.
//
// 1. The first instance that fails, by a signal or an exit code other than 0, ends the others:
//    SIGTERM, and SIGKILL after kGrace_ns.
// 2. A signal that asks this process to end goes to all instances, with SIGKILL after the same
//    time, or at once when a second one comes. SIGUSR1, SIGUSR2 and a terminal's stop (^Z) are
//    passed on.
// 3. Lines of instances (see InstancesRequest) are written whole. If a reader goes away, so does
//    the pipe of each instance, which then gets SIGPIPE as it would without this process.
//
// The process must have one thread. Errors: files, pipes or processes cannot be made; no instance
// is left then.
inline constexpr std::int64_t kGrace_ns = 5'000'000'000;
Result<InstancesRun> run_instances(const InstancesRequest& request);

}  // namespace hierbar
