// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

// Shares as launchers take them, one per rank of a node. Cpus by operating-system number.

// mpiexec of MPICH and what is made of it: "-bind-to user:0+1,2+3".
std::string hydra_option(const std::vector<CpuSet>& shares);

// srun: "--cpu-bind=mask_cpu:0x3,0xc".
std::string slurm_option(const std::vector<CpuSet>& shares);

// OMP_PLACES of one rank, a place for each core of its share: "{0,8},{1,9}".
std::string omp_places(const Machine& machine, const CpuSet& share);

}  // namespace hierbar
