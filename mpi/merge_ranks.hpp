// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mpi/pmpi.hpp"
#include "ompt-tools/report.hpp"

namespace hierbar::mpi {

enum class Merged { kInRank0, kHere, kNowhere };

// Collective over MPI_COMM_WORLD: rank 0's report becomes that of all ranks. kHere in rank 0, kInRank0 in the others; kNowhere in
// all of them, which have their own then, when the ranks cannot tell each other about their reports.
Merged merge_ranks(const Pmpi& pmpi, ompt::Report& report);

}  // namespace hierbar::mpi
