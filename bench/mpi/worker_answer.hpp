// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// What mpi_barrier_worker reports beside its figures.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

// The beginning of the library's version text, "MPICH Version: 4.0.2" or "Open MPI v4.1.4", without
// characters that a JSON string cannot have.
inline std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  std::string version(text);
  version.resize(std::min(version.find_first_of("\n,"), version.size()));
  for (char& c : version) {
    if (c == '\t' || c == '"' || c == '\\') c = ' ';
  }
  const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
  version.erase(std::unique(version.begin(), version.end(), both_blank), version.end());
  return version;
}

inline void print_list(const char* key, const std::vector<double>& values) {
  std::printf("\"%s\": [", key);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.1f", i == 0 ? "" : ", ", values[i]);
  std::printf("]");
}
