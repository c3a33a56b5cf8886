// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// MPI_Barrier, for all entry points.
int barrier(const Pmpi& pmpi, MPI_Comm comm) noexcept;

// The same, recorded as HIERBAR_REPORT says. `caller` is the place in the program from which the
// barrier is called.
int recorded_barrier(const Pmpi& pmpi, MPI_Comm comm, const void* caller) noexcept;

}  // namespace hierbar::mpi
