// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// Shares in the form that launchers take, one share per rank of a node. Cpus have the numbers of
// the operating system.

// For mpiexec of MPICH and of libraries made from it: "-bind-to user:0+1,2+3".
std::string hydra_option(const std::vector<CpuSet>& shares);

// For srun: "--cpu-bind=mask_cpu:0x3,0xc".
std::string slurm_option(const std::vector<CpuSet>& shares);

// A rankfile of Open MPI. "rank 1=localhost slot=1:0-1,2:0" means the first two cores of the second
// package and the first one of the third. Cores and packages are numbered as Open MPI numbers them:
// in the order of the tree, and only those that the job may use. A rankfile can only name whole
// cores. Errors: two different shares have parts of one core; the machine tells no packages; a
// share's list is longer than what Open MPI reads.
//
// With more than one node, each has the same shares, and nodes are named as "+n1", the second node
// of the job.
Result<std::string> rankfile(const Machine& machine, const std::vector<CpuSet>& shares, std::uint32_t num_nodes = 1);

// For instance "0xff".
std::string hexadecimal(const CpuSet& cpus);

// For instance "0,8,9".
std::string join_cpus(const CpuSet& cpus, char separator);

}  // namespace hierbar
