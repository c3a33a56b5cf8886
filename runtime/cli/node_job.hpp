// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "placement/findings.hpp"
#include "placement/node_ranks.hpp"
#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar {

// The ranks of this process's launch on this node, for commands that are started in the place of a program:
// `mpiexec -n 4 hierbar check -- ./app`. Each rank runs the command; the first one of the node speaks for all, and sees the
// others through their entries in /proc. The others stay until it has.
class NodeJob {
 public:
  // This process, started by a launcher or not. Errors: a launcher that does not tell which rank this is.
  static Result<NodeJob> find();

  // Whether this process speaks for its node.
  bool is_speaker() const { return launch_.local_rank == 0; }
  // Whether one command ran on several nodes that would all say the same; the first node speaks.
  bool is_first_node() const { return rank_ == 0; }

  // For the speaker: all ranks of the node. Errors: not all have been seen within the time.
  Result<std::vector<NodeRank>> wait_for_ranks(std::chrono::milliseconds most) const;

  // For the speaker, when it is done: returns when all others have seen it, so that none of them looks for it in vain.
  void wait_for_listeners(std::chrono::milliseconds most) const;

  // For all others: returns when the speaker runs something else than this command, or has ended. Both give up after the time.
  void listen(std::chrono::milliseconds most) const;

  // The cpus of the launcher's own process, if it is this user's; Slurm's is not and runs elsewhere.
  std::optional<CpuSet> grant() const;

 private:
  NodeJob() = default;

  Launch launch_;
  std::uint32_t rank_ = 0;
  std::optional<Process> launcher_;  // nothing: this process was started by hand
};

// What each of the ranks may run on, and the team that it would get there; a number of threads other than 0 replaces
// OMP_NUM_THREADS. Where libomp is going to place the ranks anew (KMP_BARRIER=hier), that is what they get. Remarks, one line
// each, go to `remarks`: what was not understood, and that the ranks are placed anew.
std::vector<RankView> view_ranks(const Machine& machine, const std::vector<NodeRank>& ranks, const std::string& threads,
                                 std::vector<std::string>& remarks);

std::string host_name();

}  // namespace hierbar
