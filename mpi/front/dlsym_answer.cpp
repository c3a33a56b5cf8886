// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What dlsym() answers in the library in front of the shims: what the shim says that serves the
// process. A process that asks for no function of MPI opens no shim.

#include <dlfcn.h>

#include "mpi/entry/dlsym.hpp"
#include "mpi/front/entries.hpp"
#include "mpi/front/shim.hpp"
#include "mpi/library/mpi_symbols.hpp"

namespace hierbar::mpi {

void* function_in_place_of(void* definition, void* handle, const char* symbol, const void* caller) {
  // As the shim has it, before one is looked for.
  if (find_entry(symbol) == nullptr || is_in_shim(caller) || is_in_shim(definition) ||
      are_in_one_file(caller, definition) || !is_in_base_namespace(handle))
    return nullptr;
  const void* const barrier = definition_inside(definition, "PMPI_Barrier");
  if (barrier == nullptr) return nullptr;
  const Shim& shim = find_shim(barrier);
  return shim.in_place_of != nullptr ? shim.in_place_of(definition, handle, symbol, caller)
                                     : nullptr;
}

// This library has the functions of all families. Programs such as mpi4py look for functions to
// know what their MPI library has.
bool is_only_here(const char* symbol, const void* caller) {
  return find_entry(symbol) != nullptr && !is_in_shim(caller) &&
         definition_without_us(symbol, caller) == nullptr;
}

}  // namespace hierbar::mpi
