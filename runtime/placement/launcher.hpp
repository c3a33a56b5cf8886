// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "placement/process.hpp"
#include "topology/result.hpp"

namespace hierbar {

// What a launcher tells each rank in its environment, before MPI_Init and without MPI.
struct Launch {
  std::string launcher;          // "Intel MPI", "hydra", "Open MPI", "PALS", "Flux", "MVAPICH2", "Slurm"
  std::uint32_t local_rank = 0;  // among the ranks of this node: 0 <= local_rank < local_size
  std::uint32_t local_size = 0;
  // The launcher does not tell the local size. It is what an even spread over the nodes gives, so ranks must ask each other
  // before they rely on it.
  bool size_is_assumed = false;
  // The same for all ranks of this launch on this node and for nobody else on it: name of the launcher, its id of the job or its
  // process, this boot. For use inside a hash; a job id may hold any character.
  std::string job_key;
};

// What else is known of a process that was launched.
struct ProcessFacts {
  std::vector<Process> ancestors;  // parent first
  std::string boot_id;
};

ProcessFacts own_process_facts();

// Who launched this process. Launchers start each other (mpiexec its proxies through srun, for instance), and their variables are
// inherited: the inner one counts. That is the one whose process is the nearest ancestor or, when none of them is seen among
// the ancestors, the first in the order of Launch::launcher.
//
// A launcher that contradicts itself is not replaced by an outer one, whose ranks are other processes.
//
// Errors, all to be taken for "nothing is known": no launcher's variables; a number that is none, or a rank outside its size,
// with the variable and its value; a launcher that has no job id and whose process is not seen; one that does not tell the rank's
// position on its node.
Result<Launch> find_launch(const Environment& environment, const ProcessFacts& facts);

// The nearest ancestor that is a launcher's own process (a proxy or daemon of a node, or mpiexec itself); null if there is none.
// Slurm's are among them.
const Process* find_launcher_process(const std::vector<Process>& ancestors);

// How many tasks run on node `node_index` according to Slurm's run-length list, "4(x2),3". Errors: not such a list; it is
// shorter.
Result<std::uint32_t> tasks_on_node(std::string_view list, std::uint32_t node_index);

}  // namespace hierbar
