// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "placement/decision/findings.hpp"
#include "placement/evidence/launcher.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// The ranks of this process's launch on this node. It is for commands that a launcher starts in
// place of a program: `mpiexec -n 4 hierbar check -- ./app`. Each rank runs the command. The first
// rank of the node, the speaker, reports for all. It sees the others in /proc, so they stay until
// it has seen them.
class NodeJob {
 public:
  // The job of this process; without a launcher it is the only rank. Errors: a launcher is there,
  // but this process's rank is not known; /proc does not show the parent.
  static Result<NodeJob> find();

  // Whether this process reports for its node.
  bool is_speaker() const { return launch_.local_rank == 0; }
  // Whether this process is rank 0 of the whole job. If all nodes would print the same, only the
  // first node prints.
  bool is_first_node() const { return rank_ == 0; }

  // For the speaker: all ranks of the node. Errors: some were not seen, and within the time no
  // other one came.
  Result<std::vector<NodeRank>> wait_for_ranks(std::chrono::milliseconds most) const;

  // For the speaker, at its end: returns when all other ranks have seen it. Otherwise a late one
  // would wait for a speaker that is gone.
  void wait_for_listeners(std::chrono::milliseconds most) const;

  // For all other ranks: returns when the speaker runs another program than this command, or has
  // ended. It gives up when no rank has come within `most`, as the speaker does, and
  // wait_for_listeners() after `most`.
  void listen(std::chrono::milliseconds most) const;

  // The cpus of the launcher's own process. Nothing if that process belongs to another user.
  // Nothing for Slurm's either, which may run on other cpus than the job.
  std::optional<CpuSet> grant() const;

 private:
  NodeJob() = default;

  Launch launch_;
  std::uint32_t rank_ = 0;
  std::optional<Process> launcher_;  // nothing if no launcher started this process
};

// For each rank, the cpus on which it may run and the team that it would get there. If `threads` is
// not empty, it replaces OMP_NUM_THREADS. If libomp is going to place the ranks (KMP_BARRIER=hier),
// the result shows the placed ranks. `remarks` gets a line for each setting that was not
// understood, and one if the ranks are placed.
std::vector<RankView> view_ranks(const Machine& machine, const std::vector<NodeRank>& ranks,
                                 const std::string& threads, std::vector<std::string>& remarks);

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
inline constexpr const char* kAllowedJobs =
    "a launcher's process (mpiexec, hydra_pmi_proxy, orted, slurmstepd), or any parent";

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
