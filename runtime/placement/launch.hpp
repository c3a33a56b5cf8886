// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar {

// Shares as launchers take them, one per rank of a node. Cpus by operating-system number.

// mpiexec of MPICH and what is made of it: "-bind-to user:0+1,2+3".
std::string hydra_option(const std::vector<CpuSet>& shares);

// srun: "--cpu-bind=mask_cpu:0x3,0xc".
std::string slurm_option(const std::vector<CpuSet>& shares);

// A rankfile of Open MPI: "rank 1=localhost slot=1:0,1:1" is the first two cores of the second package. It numbers
// cores as Open MPI does, in the order of the tree and counting those alone that the job may use, and knows only whole cores.
// Errors: two shares, not the same one, that have parts of one core.
Result<std::string> rankfile(const Machine& machine, const std::vector<CpuSet>& shares);

// "0,8,9".
std::string join_cpus(const CpuSet& cpus, char separator);

}  // namespace hierbar
