// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hierbar::mpi {

// The families of MPI libraries, each with one ABI and one shim. It knows nothing of mpi.h.
enum class LibraryFamily : std::uint8_t { kNone, kMpich, kOpenMpi, kStandardAbi };

struct FamilyRow {
  const char* name;       // "Open MPI"
  const char* shim_file;  // "libhierbar_mpi_ompi.so"
};

inline constexpr FamilyRow kFamilies[] = {{"no family", ""},
                                          {"MPICH", "libhierbar_mpi.so"},
                                          {"Open MPI", "libhierbar_mpi_ompi.so"},
                                          {"MPI's standard ABI", "libhierbar_mpi_abi.so"}};

constexpr const FamilyRow& row_of(LibraryFamily family) {
  return kFamilies[static_cast<std::size_t>(family)];
}

// The family of the library around an address, which is in `file`, by what only libraries with this
// ABI define. May call PMPI_Abi_get_version of the library, which MPI allows at any time.
LibraryFamily family_of(const void* library, const std::string& file);

}  // namespace hierbar::mpi
