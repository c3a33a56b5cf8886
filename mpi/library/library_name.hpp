// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// The first line of the MPI library's version, for instance "MPICH Version: 4.0.2".
std::string library_name(const Pmpi& pmpi);

}  // namespace hierbar::mpi
