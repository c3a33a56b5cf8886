// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "mpi/pmpi.hpp"
#include "ompt-tools/report.hpp"

namespace hierbar::mpi {

// Collective over MPI_COMM_WORLD: the reports of all ranks as one, in rank 0; nothing in the others.
std::optional<ompt::Report> merge_ranks(const Pmpi& pmpi, ompt::Report own);

}  // namespace hierbar::mpi
