// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/library/opened_library.hpp"

#include <dlfcn.h>

#include <cstring>

#include "mpi/library/mpi_symbols.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {
namespace {

const char in_this_file = 0;

// The namespace of the preloaded files, and of all that dlopen() opens.
bool is_in_base_namespace(void* handle) {
  Lmid_t space = -1;
  return dlinfo(handle, RTLD_DI_LMID, &space) == 0 && space == LM_ID_BASE;
}

// What the program calls without dlsym() is served, too, and must be in the same library.
bool is_programs_library(const void* definition) {
  const void* const visible = dlsym(RTLD_DEFAULT, kInEveryMpi);
  return visible == nullptr || are_in_one_file(visible, definition);
}

}  // namespace

void* function_in_place_of(void* definition, void* handle, const char* symbol, const void* caller) {
  // First: all that follows calls dlsym() from here.
  if (is_in_shim(caller) || is_in_shim(definition) || are_in_one_file(caller, definition)) return nullptr;
  void* const ours = definition_inside(&in_this_file, symbol);
  if (ours == nullptr) return nullptr;
  if (!is_in_base_namespace(handle) || !is_programs_library(definition)) return nullptr;
  const void* const barrier = definition_inside(definition, "PMPI_Barrier");
  if (barrier == nullptr || !serves_opened(barrier)) return nullptr;
  const void* const next = next_definition(symbol);
  if (next == nullptr || are_in_one_file(next, definition) || is_in_shim(next)) return ours;
  return std::strcmp(symbol, "MPI_Barrier") == 0 ? definition_inside(&in_this_file, "PMPI_Barrier") : nullptr;
}

}  // namespace hierbar::mpi
