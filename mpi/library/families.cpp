// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/library/families.hpp"

#include "mpi/library/mpi_symbols.hpp"

namespace hierbar::mpi {
namespace {

// The version of the ABI that the shim is compiled for. Another major number is another ABI.
constexpr int kAbiMajor = 1;

// MPICH and Intel MPI define the function in libmpi.so as well, where it says -1: MPI's way to say
// that this library does not have the standard ABI.
bool has_standard_abi(const void* library) {
  using GetVersion = int (*)(int* major, int* minor);
  const auto get_version =
      reinterpret_cast<GetVersion>(definition_inside(library, "PMPI_Abi_get_version"));
  int major = -1, minor = -1;
  return get_version != nullptr && get_version(&major, &minor) == 0 && major == kAbiMajor;
}

}  // namespace

LibraryFamily family_of(const void* library, const std::string& file) {
  if (has_standard_abi(library)) return LibraryFamily::kStandardAbi;
  // Drafts of the standard ABI had other constants, and a library may have its family's marks too.
  if (file.find("libmpi_abi") != std::string::npos) return LibraryFamily::kNone;
  // In mpi.h of MPICH MPI_COMM_DUP_FN is this function. So every library that programs of this ABI
  // can be linked with has it, and no library of another ABI.
  if (definition_inside(library, "MPIR_Dup_fn") != nullptr) return LibraryFamily::kMpich;
  if (definition_inside(library, "ompi_mpi_comm_world") != nullptr) return LibraryFamily::kOpenMpi;
  return LibraryFamily::kNone;
}

}  // namespace hierbar::mpi
