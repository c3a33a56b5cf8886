// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <algorithm>
#include <string>

namespace hierbar::mpi {

// The first line of the MPI library's version, for instance "MPICH Version: 4.0.2". Measured
// networks are found by it. `get_version` is the library's MPI_Get_library_version.
inline std::string library_name(decltype(&PMPI_Get_library_version) get_version) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  get_version(text, &length);
  std::string name(text);
  name.resize(std::min(name.find('\n'), name.size()));
  for (char& c : name) c = c == '\t' ? ' ' : c;
  return name;
}

}  // namespace hierbar::mpi
