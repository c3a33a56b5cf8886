// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "placement/share/pattern.hpp"
#include "placement/share/places.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// The ranks of one node, as all nodes of a job have them.
struct NodePlacement {
  const Machine& machine;
  Pattern pattern = Pattern::kShare;
  std::vector<std::uint32_t> threads;  // of each rank
  std::vector<CpuSet> shares;
};

// A placement as a launcher takes it, by the launcher's row in base/launchers.hpp. Requires that
// some launcher has a setting of this name. For instance:
//
//   mpiexec   -bind-to user:0+1,2+3
//   srun      --cpu-bind=mask_cpu:0x3,0xc
//   sockets   --cpus-per-task=4 --cpu-bind=sockets
//   intel     I_MPI_PIN_DOMAIN=[3,c]
//   map-by    --map-by slot:PE=2 --bind-to core
//   rankfile  several lines, see rankfile()
//
// All but the ones with which the launcher chooses cpus name cpus of the operating system, so they
// fit this machine only: on another one the numbers are of other cores. Errors: the launcher cannot
// be told this placement; mpiexec, srun, intel, mvapich2 and pals have none.
Result<std::string> launcher_setting(std::string_view name, const NodePlacement& node,
                                     std::uint32_t num_nodes = 1);

// A rankfile of Open MPI. "rank 1=localhost slot=1:0-1,2:0" means the first two cores of the second
// package and the first one of the third. Cores and packages are numbered as Open MPI numbers them:
// in the order of the tree, and only those that the job may use. A rankfile can only name whole
// cores. Errors: two different shares have parts of one core; the machine tells no packages; a
// share's list is longer than what Open MPI reads.
//
// With more than one node, each has the same shares, and nodes are named as "+n1", the second node
// of the job.
Result<std::string> rankfile(const Machine& machine, const std::vector<CpuSet>& shares,
                             std::uint32_t num_nodes = 1);

// OpenMP's variables for a rank: "OMP_NUM_THREADS=2 OMP_PLACES={0},{1} OMP_PROC_BIND=spread".
std::string openmp_settings(const NodePlacement& node, std::size_t rank, ProcBind proc_bind);

// What `hierbar place --settings` prints: the settings of all launchers; "taskset", a command for
// each rank; and "omp", OpenMP's variables for each rank.
std::string place_settings_names(const std::string& separator = ", ");
// A line of help for each.
std::string place_settings_help();
bool is_place_settings(std::string_view name);
// In lines. Requires is_place_settings(name). Errors as of launcher_setting().
Result<std::string> place_settings(std::string_view name, const NodePlacement& node,
                                   std::uint32_t num_nodes, ProcBind proc_bind);

}  // namespace hierbar
