// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "bench/common/groups.hpp"
#include "bench/common/report/judge.hpp"

// Decides by one run whether the targets that the project has set itself for MPI_Barrier are met.
namespace hierbar::bench::mpi {

// A verdict for each target that applies to the numbers of ranks of the run.
[[nodiscard]] std::vector<Verdict> judge(const Measurements& measurements);

}  // namespace hierbar::bench::mpi
