// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <string>

namespace hierbar::mpi {

// The first line of the MPI library's version, for instance "MPICH Version: 4.0.2". Measured
// networks are found by it. `get_version` is the library's MPI_Get_library_version.
std::string library_name(decltype(&PMPI_Get_library_version) get_version);

}  // namespace hierbar::mpi
