// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/library/library_name.hpp"

#include <algorithm>

namespace hierbar::mpi {

std::string library_name(decltype(&PMPI_Get_library_version) get_version) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  get_version(text, &length);
  std::string name(text);
  name.resize(std::min(name.find('\n'), name.size()));
  for (char& c : name) c = c == '\t' ? ' ' : c;
  return name;
}

}  // namespace hierbar::mpi
