// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/variables.hpp"
#include "placement/evidence/process.hpp"

namespace hierbar {

// What a launcher tells each rank by variables, before MPI_Init and without MPI.
struct Launch {
  std::string launcher;  // Launcher::name
  // The rank among those of this node: 0 <= local_rank < local_size.
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 0;
  // True when the launcher does not tell the local size, which is then what an even spread over the
  // nodes gives. Ranks must ask each other before they rely on it.
  bool size_is_assumed = false;
  // The same for all ranks of this launch on this node, and for nobody else on the node. It
  // consists of the launcher's name, its job id or its process, and this boot. Only for use inside
  // a hash, because a job id may hold any character.
  std::string job_key;
};

// What else is known about a process that was launched.
struct ProcessFacts {
  std::vector<Process> ancestors;  // parent first
  std::string boot_id;
};

ProcessFacts own_process_facts();

// Whether a launcher's variables are set. Where none are, find_launch() finds nobody, whatever the
// facts. These take two files for each ancestor.
bool names_launcher(const Environment& environment);

// Finds out who launched this process. Launchers start each other (mpiexec starts its proxies by
// srun, for instance), and their variables are inherited. The inner one counts: the launcher whose
// process is the nearest ancestor. If no launcher's process is seen among the ancestors, it is the
// first one in the order of known_launchers() (docs/design/placement.md#d0043).
//
// If the variables of that launcher contradict each other, no outer launcher takes its place,
// because the outer one's ranks are other processes.
//
// Errors, which all mean "nothing is known": no launcher's variables are set; a variable is not a
// number, or a rank is not below its size; a launcher has no job id and its process is not seen; a
// launcher does not tell the rank's position on its node.
Result<Launch> find_launch(const Environment& environment, const ProcessFacts& facts);

// The nearest ancestor that is a launcher's own process: the proxy or daemon of a node, or mpiexec
// itself. Slurm's are among them. Null if there is none.
const Process* find_launcher_process(const std::vector<Process>& ancestors);

// The number of tasks on node `node_index`, from Slurm's run-length list such as "4(x2),3". Errors:
// it is not such a list; it is shorter.
Result<std::uint32_t> tasks_on_node(std::string_view list, std::uint32_t node_index);

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
