// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/library/mpi_symbols.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <vector>

namespace hierbar::mpi {
namespace {

constexpr const char* kInEveryMpi = "PMPI_Barrier";

// The names of all loaded files, without the program. They are not opened here: to open a file
// while the loader walks its list may deadlock (docs/decisions/0042).
std::vector<std::string> loaded_files() {
  std::vector<std::string> files;
  const auto note = [](dl_phdr_info* info, std::size_t, void* result) {
    if (*info->dlpi_name != '\0') static_cast<std::vector<std::string>*>(result)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(note, &files);
  return files;
}

// Opens a loaded file that is an MPI library or needs one. Null: it is not such a file, and is
// closed again.
void* open_if_it_knows_mpi(const char* file) {
  void* const handle = *file != '\0' ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (handle == nullptr || dlsym(handle, kInEveryMpi) != nullptr) return handle;
  dlclose(handle);
  return nullptr;
}

}  // namespace

MpiSymbols::MpiSymbols(const void* somewhere) : file_(open_if_it_knows_mpi(file_of(somewhere))) {
  if (file_ != nullptr || dlsym(RTLD_DEFAULT, kInEveryMpi) != nullptr) return;
  for (const std::string& file : loaded_files()) {
    file_ = open_if_it_knows_mpi(file.c_str());
    if (file_ != nullptr) return;
  }
}

void* MpiSymbols::operator()(const char* symbol) const {
  if (void* found = dlsym(RTLD_DEFAULT, symbol)) return found;
  return file_ != nullptr ? dlsym(file_, symbol) : nullptr;
}

const char* file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace hierbar::mpi
