// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a shim answers in place of its program's MPI library (docs/design/mpi-calls.md#d0179).

#include <dlfcn.h>

#include <cstring>

#include "mpi/entry/dlsym.hpp"
#include "mpi/library/mpi_symbols.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {
namespace {

const char in_this_file = 0;

// What the program calls without dlsym() is served, too, and must be in the same library.
bool is_programs_library(const void* definition) {
  const void* const visible = dlsym(RTLD_DEFAULT, kInEveryMpi);
  return visible == nullptr || are_in_one_file(visible, definition);
}

}  // namespace

// A program may open its MPI library and take functions from it by dlsym(), as Julia's ccall,
// Python's ctypes and Numba do. Such calls come to no preloaded function. So the shim answers
// dlsym().
//
// Returns the shim's function that is to be the answer in place of `definition`, which is that of
// `symbol` behind `handle`; `caller` is the place that asks. Null: `definition` stays the answer,
// since
//
// - this shim has no such function, or does not serve the library, or already serves another one;
// - the library is in a namespace of its own (dlmopen()), or another shim's function was found;
// - the MPI library asks, or a shim;
// - a tool behind the shim has the function, and might be the one that asks. The shim's function
//   would call that of the tool again. Barriers and calls with data have a function that calls no
//   tool, as PMPI_Barrier.
void* function_in_place_of(void* definition, void* handle, const char* symbol, const void* caller) {
  // First: all that follows calls dlsym() from here.
  if (is_in_shim(caller) || is_in_shim(definition) || are_in_one_file(caller, definition))
    return nullptr;
  void* const ours = definition_inside(&in_this_file, symbol);
  if (ours == nullptr) return nullptr;
  if (!is_in_base_namespace(handle) || !is_programs_library(definition)) return nullptr;
  const void* const barrier = definition_inside(definition, "PMPI_Barrier");
  if (barrier == nullptr || !serves_opened(barrier)) return nullptr;
  const void* const next = next_definition(symbol);
  if (next == nullptr || are_in_one_file(next, definition) || is_in_shim(next)) return ours;
#define HIERBAR_PROFILING_NAMES(name, lower) , "PMPI_" #name, "PMPI_" #name "_c"
  for (const char* const served :
       {"PMPI_Barrier" HIERBAR_DATA_FUNCTIONS(HIERBAR_PROFILING_NAMES)}) {
    if (std::strcmp(symbol, served + 1) == 0) return definition_inside(&in_this_file, served);
  }
  return nullptr;
}

bool is_only_here(const char*, const void*) { return false; }

}  // namespace hierbar::mpi

// Called by the library in front of the shims, which has opened this one. `next` is its
// next_definition(). Returns what its dlsym() is to ask.
extern "C" [[gnu::visibility("default")]] decltype(&hierbar::mpi::function_in_place_of)
hierbar_mpi_stand_behind(hierbar::mpi::NextDefinition next) noexcept {
  hierbar::mpi::stand_behind(next);
  return &hierbar::mpi::function_in_place_of;
}
