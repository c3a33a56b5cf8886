// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

namespace hierbar::mpi {

// Shows an MPI library. Not PMPI_Barrier, which the shims define as well.
inline constexpr const char* kInEveryMpi = "PMPI_Comm_size";
// Shows a shim, or the library in front of all shims.
inline constexpr const char* kOnlyInShims = "hierbar_team_barrier";

// Finds what the program's MPI library exports. It asks, in this order:
//
// 1. what the program itself sees;
// 2. the file around `somewhere`, an address in the program or library that called MPI, or in the
//    MPI library. It is needed where an interpreter loads MPI with an extension module;
// 3. the file around `opened`, if not null: an address in a library that the program has opened,
//    and whose functions it calls from code that is in no file;
// 4. the first loaded file that is or needs an MPI library. It is needed where the caller does not
//    know MPI: MPI_Finalize may be an exit handler of the interpreter
//    (docs/design/mpi-calls.md#d0042).
class MpiSymbols {
 public:
  explicit MpiSymbols(const void* somewhere, const void* opened = nullptr);

  // Returns null if the symbol is found nowhere.
  void* operator()(const char* symbol) const;

  // The same for a symbol that must exist. missing() returns the last one that was not found.
  void* need(const char* symbol) const {
    void* const found = (*this)(symbol);
    if (found == nullptr) missing_ = symbol;
    return found;
  }
  const char* missing() const { return missing_; }

 private:
  // Never closed: the library stays loaded as long as MPI is used.
  void* file_ = nullptr;
  mutable const char* missing_ = nullptr;
};

// The path of the file from which `address` was loaded; empty if it is unknown.
const char* file_of(const void* address);

// The directory where that file is in the end, with a slash; empty if it is not known.
std::string directory_of(const void* address);

// What `symbol` would be for the program if this library were not loaded: its next definition
// behind this library. Null: there is none, or only the caller of MPI sees it.
void* next_definition(const char* symbol);

// That this library was opened by the one in front of all shims (mpi/front), which the program's
// calls reach first, and whose next_definition() this is. From here on it is this library's, too.
using NextDefinition = void* (*)(const char* symbol);
void stand_behind(NextDefinition of_front) noexcept;

// Whether `address` is in the library behind which this one stands.
bool is_in_front(const void* address);

// Whether the file around `address` is a shim, this one or another, or the library in front of
// them.
bool is_in_shim(const void* address);

// Whether a definition of a routine in Fortran is in a Fortran part of an MPI library, and so no
// tool's and no function of the program's: only those parts have the profiling names, too.
bool is_of_fortran_library(const void* definition);

// The definition of `symbol` in the file around `inside` or in one that this file needs. Null:
// there is none.
void* definition_behind(const void* inside, const char* symbol);

// The definition of `symbol` in the very file around `inside`. Null: it has none.
void* definition_inside(const void* inside, const char* symbol);

// Whether the two are in one file.
bool are_in_one_file(const void* one, const void* other);

// The memory into which the file around an address is loaded.
struct Extent {
  std::uintptr_t begin = 0, end = 0;

  bool has(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - begin < end - begin;
  }
};
Extent extent_of(const void* inside);

}  // namespace hierbar::mpi
