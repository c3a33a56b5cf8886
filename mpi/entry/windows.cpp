// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that make windows of a process's memory. Whoever has made one does not sleep in
// barriers (docs/design/mpi-calls.md#d0178). The Fortran libraries call these functions, some of
// them by their PMPI names, so both are entry points. MPI_Win_allocate_shared is none: such a
// window is accessed by loads and stores, which need no progress of the process.

#include <mpi.h>

#include <string>

#include "mpi/entry/entry_points.hpp"
#include "mpi/library/mpi_symbols.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/library/progress.hpp"

namespace {

using hierbar::mpi::definition_inside;
using hierbar::mpi::find_pmpi;
using hierbar::mpi::next_definition;
using hierbar::mpi::Pmpi;
using hierbar::mpi::RawHandle;

// Six arguments at most, each in a register, which is passed on as it is.
using MakeWindow = int (*)(RawHandle, RawHandle, RawHandle, RawHandle, RawHandle, RawHandle);

// The library's own. Where it lacks a function with large counts, the one without does: both take
// the window's size as MPI_Aint.
MakeWindow own_of(const Pmpi& pmpi, std::string profiling_name) {
  const auto* const library = reinterpret_cast<const void*>(pmpi.Barrier);
  void* found = definition_inside(library, profiling_name.c_str());
  if (found == nullptr)
    found =
        definition_inside(library, profiling_name.substr(0, profiling_name.rfind("_c")).c_str());
  return reinterpret_cast<MakeWindow>(found);
}

// Where a call of a served program goes: to a tool behind the shim or to the library.
MakeWindow next_of(const Pmpi& pmpi, const char* name, const char* profiling_name) {
  void* const next = next_definition(name);
  return next != nullptr ? reinterpret_cast<MakeWindow>(next) : own_of(pmpi, profiling_name);
}

}  // namespace

#define HIERBAR_WORDS RawHandle a, RawHandle b, RawHandle c, RawHandle d, RawHandle e, RawHandle f
#define HIERBAR_WINDOW_FUNCTION(name, profiling_name)                                       \
  HIERBAR_ENTRY(int, name, HIERBAR_WORDS) {                                                 \
    const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));                        \
    if (pmpi == nullptr) HIERBAR_PASS_ON(name, profiling_name, a, b, c, d, e, f);           \
    hierbar::mpi::window_comes();                                                           \
    static const MakeWindow next = next_of(*pmpi, #name, #profiling_name);                  \
    return next(a, b, c, d, e, f);                                                          \
  }                                                                                         \
  HIERBAR_ENTRY(int, profiling_name, HIERBAR_WORDS) {                                       \
    const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));                        \
    if (pmpi == nullptr) HIERBAR_PASS_ON(profiling_name, profiling_name, a, b, c, d, e, f); \
    hierbar::mpi::window_comes();                                                           \
    static const MakeWindow own = own_of(*pmpi, #profiling_name);                           \
    return own(a, b, c, d, e, f);                                                           \
  }

HIERBAR_WINDOW_FUNCTION(MPI_Win_allocate, PMPI_Win_allocate)
HIERBAR_WINDOW_FUNCTION(MPI_Win_create, PMPI_Win_create)
HIERBAR_WINDOW_FUNCTION(MPI_Win_create_dynamic, PMPI_Win_create_dynamic)
// With large counts. Not every library of MPICH's ABI has them, and Open MPI 5 does not.
#if MPI_VERSION >= 4
HIERBAR_WINDOW_FUNCTION(MPI_Win_allocate_c, PMPI_Win_allocate_c)
HIERBAR_WINDOW_FUNCTION(MPI_Win_create_c, PMPI_Win_create_c)
#endif
