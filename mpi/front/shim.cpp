// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/front/shim.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "mpi/front/entries.hpp"
#include "mpi/library/families.hpp"
#include "mpi/library/mpi_symbols.hpp"
#include "mpi/settings/print_line.hpp"

namespace hierbar::mpi {
namespace {

const char in_this_file = 0;

std::string_view base_name(std::string_view file) { return file.substr(file.rfind('/') + 1); }

std::string own_name() { return std::string(base_name(file_of(&in_this_file))); }

// A second thread that looks at the same time says it once more at worst.
void decline(const std::string& reason) {
  if (is_first_process()) print_line(reason + "; " + own_name() + " does nothing here");
}

bool is_in_shim_file(const void* definition, const char* file) {
  return definition != nullptr && base_name(file_of(definition)) == file;
}

// Whether the program has this shim without us: preloaded, too, or linked.
bool is_there_already(const char* file) {
  return is_in_shim_file(dlsym(RTLD_DEFAULT, kOnlyInShims), file) ||
         is_in_shim_file(next_definition(kOnlyInShims), file);
}

// Opens the shim for `library`, which is in `file`.
Shim open_shim(const void* library, const std::string& file, const FamilyRow& family) {
  Shim shim{.library = library};
  if (is_there_already(family.shim_file)) return shim;
  const std::string path = directory_of(&in_this_file) + family.shim_file;
  const std::string uses = "this program uses " + file + ", which is " + family.name + "'s, but ";
  // Its thread-local variables and its callbacks in the MPI library outlive every dlclose().
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const why = dlerror();
    decline(uses + "its shim cannot be loaded: " + (why != nullptr ? why : path));
    return shim;
  }
  using StandBehind = decltype(Shim::in_place_of) (*)(NextDefinition);
  const auto stand_behind =
      reinterpret_cast<StandBehind>(dlsym(handle, "hierbar_mpi_stand_behind"));
  if (stand_behind == nullptr) {
    decline(uses + path + " is of another version");
    return shim;
  }
  shim.in_place_of = stand_behind(&next_definition);
  shim.handle = handle;
  return shim;
}

Shim look_for_shim(const void* caller) {
  const void* const library = MpiSymbols(caller)(kInEveryMpi);
  const void* const barrier =
      library != nullptr ? definition_inside(library, "PMPI_Barrier") : nullptr;
  if (barrier == nullptr) {
    decline("this program calls MPI functions, but has no MPI library with PMPI_Barrier");
    return {};
  }
  const std::string file = file_of(barrier);
  const LibraryFamily family = family_of(barrier, file);
  if (family == LibraryFamily::kNone) {
    decline("this program uses " + file + ", for which hierbar has no shim");
    return {.library = barrier};
  }
  return open_shim(barrier, file, row_of(family));
}

// Names that Fortran compilers give to routines of MPI: all in small letters, or all in capitals.
// Some of them are names in C as well.
bool is_fortran_name(std::string_view name) {
  return name.starts_with("mpi_") ||
         (name.starts_with("MPI_") &&
          name.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos);
}

// Whether a function of that name is no business of ours: a C library of the program may have a
// function mpi_barrier() of its own, also where there is no MPI.
bool is_programs_own(const void* definition, const void* caller) {
  return definition != nullptr && !is_of_fortran_library(definition) &&
         MpiSymbols(caller)(kInEveryMpi) == nullptr;
}

}  // namespace

const Shim& find_shim(const void* caller) {
  // (S1) load-acquire; pairs with (S2), the release of what has been found.
  static constinit std::atomic<const Shim*> found{nullptr};
  const Shim* known = found.load(std::memory_order_acquire);  // (S1)
  if (known != nullptr) return *known;
  // Never freed: calls may come until the process ends.
  auto shim = std::make_unique<const Shim>(look_for_shim(caller));
  if (found.compare_exchange_strong(known, shim.get(), std::memory_order_acq_rel))  // (S2)
    known = shim.release();
  return *known;
}

void* definition_without_us(const char* name, const void* caller) {
  if (void* const next = next_definition(name)) return next;
  // What everybody sees is here or stands before us, and has called us.
  void* const behind = definition_behind(caller, name);
  return behind != dlsym(RTLD_DEFAULT, name) ? behind : nullptr;
}

void* find_target(Entry& entry, const void* caller) {
  void* const without_us = definition_without_us(entry.name, caller);
  if (is_fortran_name(entry.name) && is_programs_own(without_us, caller)) return without_us;
  const Shim& shim = find_shim(caller);
  if (void* const found = shim.handle != nullptr ? dlsym(shim.handle, entry.name) : nullptr)
    return found;
  if (without_us != nullptr) return without_us;
  if (void* const found =
          shim.library != nullptr ? definition_without_us(entry.name, shim.library) : nullptr)
    return found;
  // Without this library the loader or the linker would have said so.
  print_line("this program calls " + std::string(entry.name) + "(), which only " + own_name() +
             " defines, so the program is ended; if its MPI library is linked in (libmpich.a), "
             "link the shared library (libmpich.so), or leave " +
             own_name() + " out");
  _exit(EXIT_FAILURE);
}

}  // namespace hierbar::mpi
