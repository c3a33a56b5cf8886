// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/finder.hpp"

#include <dlfcn.h>

namespace hierbar::mpi {

Finder::Finder(const void* somewhere) {
  const char* const file = file_of(somewhere);
  if (*file != '\0') file_ = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
}

void* Finder::operator()(const char* symbol) const {
  if (void* found = dlsym(RTLD_DEFAULT, symbol)) return found;
  return file_ != nullptr ? dlsym(file_, symbol) : nullptr;
}

const char* file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace hierbar::mpi
