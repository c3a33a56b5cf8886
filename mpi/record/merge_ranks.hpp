// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mpi/library/pmpi.hpp"
#include "report/report.hpp"

namespace hierbar::mpi {

enum class Merged { kInRank0, kHere, kNowhere };

// Puts the reports of all ranks into rank 0's. Collective over MPI_COMM_WORLD.
//
// Returns kHere in rank 0 and kInRank0 in the others. Returns kNowhere in all ranks if they cannot
// exchange their reports; then each rank still has its own.
Merged merge_ranks(const Pmpi& pmpi, report::Report& report);

}  // namespace hierbar::mpi
