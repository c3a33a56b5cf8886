// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

namespace hierbar::mpi {

// MPI_Barrier, for all of its entry points. `caller` is an address in whoever called it.
int barrier(MPI_Comm comm, const void* caller) noexcept;

}  // namespace hierbar::mpi
