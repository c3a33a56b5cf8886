// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/findings.hpp"
#include "placement/node_ranks.hpp"
#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar {

// A thread and where it may run.
struct PlacedThread {
  std::optional<std::uint32_t> rank;  // nothing: its process is no launcher's
  std::uint32_t thread = 0;           // in the process, the first one being 0
  int pid = 0;                        // with tid: 0 for a thread that is only foreseen
  int tid = 0;
  std::string name;
  CpuSet cpus;
};

// As the ranks would start them.
std::vector<PlacedThread> foreseen_threads(const std::vector<RankView>& ranks);

// All threads of a process, whoever made them. Errors: there is no such process.
Result<std::vector<PlacedThread>> threads_of_process(int pid);

// All threads of the ranks below a launcher's process, or of all processes below it when none is a rank. Errors: there is no such
// process, or nothing below it.
Result<std::vector<PlacedThread>> threads_of_job(int launcher_pid);
inline constexpr const char* kAllowedJobs = "a launcher's process (mpiexec, hydra_pmi_proxy, orted, slurmstepd), or any parent";

// The ranks that these threads make up, to be judged. A process that is no rank goes by its number. Threads that were given names
// of their own are a library's, for progress or timers, and left out: their place is not the program's affair.
std::vector<RankView> ranks_of_threads(const std::vector<PlacedThread>& threads);

// "0.1" for thread 1 of rank 0; for a process that is no rank, its number stands in front.
std::string thread_label(const PlacedThread& thread);

// Positions of the other threads that may run on one of this one's cpus.
std::vector<std::size_t> sharers(const std::vector<PlacedThread>& threads, std::size_t index);

// Which units of the level the cpus touch, numbered in the order of the tree: "0", "0-1"; "-" when there is none.
std::string touched_units(const Machine& machine, const CpuSet& cpus, Level level);

}  // namespace hierbar
