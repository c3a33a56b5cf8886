// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/finder.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "mpi/message.hpp"

namespace hierbar::mpi {

Finder::Finder(const void* caller) {
  const char* const file = file_of(caller);
  if (*file != '\0') caller_ = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
}

void* Finder::operator()(const char* symbol) const {
  if (void* found = dlsym(RTLD_DEFAULT, symbol)) return found;
  return caller_ != nullptr ? dlsym(caller_, symbol) : nullptr;
}

const char* file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

void* find_next(const char* symbol, const char* profiling_symbol, const void* caller) {
  void* next = nullptr;
  // Not where only the caller knows the MPI library: another shim behind this one would look for it from here, in vain.
  if (dlsym(RTLD_DEFAULT, "PMPI_Barrier") != nullptr) next = dlsym(RTLD_NEXT, symbol);
  if (next == nullptr) next = Finder(caller)(profiling_symbol);
  if (next != nullptr) return next;
  say(std::string("this program has no MPI library with ") + profiling_symbol);
  std::abort();
}

}  // namespace hierbar::mpi
