// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "placement/decision/findings.hpp"
#include "placement/evidence/node_ranks.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// A thread and the cpus on which it may run.
struct PlacedThread {
  // Nothing if no launcher started the thread's process.
  std::optional<std::uint32_t> rank;
  std::uint32_t thread = 0;  // number in the process; the first thread is 0
  int pid = 0;               // 0, as tid is, for a thread that does not exist yet
  int tid = 0;
  std::string name;
  CpuSet cpus;
};

// The threads that the ranks would start.
std::vector<PlacedThread> predicted_threads(const std::vector<RankView>& ranks);

// All threads of a process, including those of libraries. Errors: there is no such process.
Result<std::vector<PlacedThread>> threads_of_process(int pid);

// All threads of the ranks below a launcher's process. If none of the processes below it is a rank,
// all threads of all of them. Errors: there is no such process, or none is below it.
Result<std::vector<PlacedThread>> threads_of_job(int launcher_pid);
inline constexpr const char* kAllowedJobs = "a launcher's process (mpiexec, hydra_pmi_proxy, orted, slurmstepd), or any parent";

// Groups threads into ranks, so that these can be judged. A process that is not a rank gets its
// process id as number. Threads with a name of their own are left out: they belong to libraries
// (progress, timers), and the program does not decide where these run.
std::vector<RankView> ranks_of_threads(const std::vector<PlacedThread>& threads);

// "0.1" for thread 1 of rank 0. For a process that is not a rank, its process id is the first
// number.
std::string thread_label(const PlacedThread& thread);

// Indices of the other threads that may run on a cpu of this thread.
std::vector<std::size_t> sharers(const std::vector<PlacedThread>& threads, std::size_t index);

// The units of a level that contain some of the cpus, numbered in the order of the tree: "0",
// "0-1". "-" if there is none.
std::string touched_units(const Machine& machine, const CpuSet& cpus, Level level);

}  // namespace hierbar
