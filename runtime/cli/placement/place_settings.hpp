// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "base/result.hpp"
#include "placement/share/launcher_settings.hpp"
#include "placement/share/omp_places.hpp"

namespace hierbar {

// "mpiexec, srun, rankfile, ...": the names of place_settings().
std::string all_settings(const std::string& separator = ", ");
// A line of help for each.
std::string settings_help();
bool is_settings(const std::string& name);

// OpenMP's variables for a rank: "OMP_NUM_THREADS=2 OMP_PLACES={0},{1} OMP_PROC_BIND=spread".
std::string openmp_settings(const NodePlacement& node, std::size_t rank, ProcBind proc_bind);

// The settings for one launcher, or for OpenMP, in lines. Requires is_settings(name). Errors: the
// launcher cannot be told this placement.
Result<std::string> place_settings(const std::string& name, const NodePlacement& node, std::uint32_t num_nodes,
                                   ProcBind proc_bind);

}  // namespace hierbar
