// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "placement/decision/findings.hpp"
#include "placement/evidence/node_ranks.hpp"
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

  // For the speaker: all ranks of the node. Errors: some were not seen, and within the time no other
  // one came.
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
std::vector<RankView> view_ranks(const Machine& machine, const std::vector<NodeRank>& ranks, const std::string& threads,
                                 std::vector<std::string>& remarks);

}  // namespace hierbar
