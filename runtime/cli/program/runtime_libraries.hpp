// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "cli/program/mpi_family.hpp"

namespace hierbar {

// Libraries that start threads or connect ranks, by what they are and not only by their names.
enum class LibraryKind {
  kOther,
  kHierbarOpenMp,  // this project's libomp, by whatever name
  kGccOpenMp,
  kLlvmOpenMp,
  kIntelOpenMp,
  kMpich,
  kOpenMpi,
  kMpichShim,  // this project's, before MPICH's kind of MPI
  kOpenMpiShim,
  kOpenBlas,  // with threads of its own
};

LibraryKind library_kind(const std::string& path);

const char* library_name(LibraryKind kind);  // "GCC's OpenMP runtime"
bool is_openmp(LibraryKind kind);
bool is_mpi(LibraryKind kind);
MpiFamily family_of(LibraryKind kind);  // of a library or a shim

// Whether a library of that file name is an OpenMP runtime: libgomp, libomp or libiomp5, also with
// a hash as Python wheels have it.
bool is_openmp_name(const std::string& file_name);

}  // namespace hierbar
