// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "placement/share/pattern.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// The ranks of one node, as all nodes of a job have them.
struct NodePlacement {
  const Machine& machine;
  Pattern pattern = Pattern::kShare;
  std::vector<std::uint32_t> threads;  // of each rank
  std::vector<CpuSet> shares;
};

// What each launcher needs to be told, besides hydra_option() and slurm_option(). All but
// slurm_policy() and openmpi_map_by() name cpus of the operating system, so they fit this machine
// only: on another one the numbers are of other cores.

// For srun: "--cpu-bind=map_cpu:0,2". Errors: a rank has several cpus. The threads of a rank that
// map_cpu binds share that one.
Result<std::string> slurm_map_cpu(const NodePlacement& node);

// For srun, which then chooses cpus itself: "--cpus-per-task=4 --cpu-bind=sockets", with sockets,
// cores, threads or rank. Errors: ranks have different numbers of threads.
Result<std::string> slurm_policy(const NodePlacement& node, const std::string& policy);

// For Intel MPI, as a word of its environment: "I_MPI_PIN_DOMAIN=[3,c]".
std::string intel_pin_domain(const NodePlacement& node);

// For MVAPICH2, as words of its environment: "MV2_ENABLE_AFFINITY=1 MV2_CPU_MAPPING=0,1:2,3".
std::string mvapich_mapping(const NodePlacement& node);

// For Open MPI's mpiexec, which then chooses cpus itself: "--map-by slot:PE=2 --bind-to core".
// Errors: ranks have different numbers of threads, or Open MPI has no such pattern.
Result<std::string> openmpi_map_by(const NodePlacement& node);

// For each rank: "taskset -c 0,1".
std::vector<std::string> taskset_words(const NodePlacement& node);

// For PALS (HPE Cray): "--cpu-bind list:0,1:2,3".
std::string pals_option(const NodePlacement& node);

}  // namespace hierbar
