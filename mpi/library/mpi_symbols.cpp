// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/library/mpi_symbols.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "base/library_beside.hpp"

namespace hierbar::mpi {
namespace {

// Relaxed: it is written before the program can have an address of this library, by whoever opens
// it, and always with the same value.
constinit std::atomic<NextDefinition> next_of_front{nullptr};

// The names of all loaded files, without the program. They are not opened here: to open a file
// while the loader walks its list may deadlock (docs/design/mpi-calls.md#d0042).
std::vector<std::string> loaded_files() {
  std::vector<std::string> files;
  const auto note = [](dl_phdr_info* info, std::size_t, void* result) {
    if (*info->dlpi_name != '\0')
      static_cast<std::vector<std::string>*>(result)->emplace_back(info->dlpi_name);
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

MpiSymbols::MpiSymbols(const void* somewhere, const void* opened)
    : file_(open_if_it_knows_mpi(file_of(somewhere))) {
  if (file_ != nullptr || dlsym(RTLD_DEFAULT, kInEveryMpi) != nullptr) return;
  if (opened != nullptr) file_ = open_if_it_knows_mpi(file_of(opened));
  if (file_ != nullptr) return;
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
  const char* const file = file_with(address);
  return file != nullptr ? file : "";
}

std::string directory_of(const void* address) {
  char path[PATH_MAX];
  if (!find_loaded_file(file_of(address), path)) return "";
  const std::string file = path;
  return file.substr(0, file.rfind('/') + 1);
}

void* next_definition(const char* symbol) {
  if (const NextDefinition in_front = next_of_front.load(std::memory_order_relaxed))
    return in_front(symbol);
  void* const found = dlsym(RTLD_NEXT, symbol);
  // The loader takes the file to which dlsym() returns for the one that asks. So no compiler may
  // make a jump of the call: this function may have been called from another file.
  __asm__ volatile("" ::: "memory");
  return found;
}

void stand_behind(NextDefinition of_front) noexcept {
  next_of_front.store(of_front, std::memory_order_relaxed);
}

bool is_in_front(const void* address) {
  const NextDefinition in_front = next_of_front.load(std::memory_order_relaxed);
  return in_front != nullptr && are_in_one_file(reinterpret_cast<const void*>(in_front), address);
}

bool is_in_shim(const void* address) { return definition_inside(address, kOnlyInShims) != nullptr; }

bool is_of_fortran_library(const void* definition) {
  return definition_inside(definition, "pmpi_barrier_") != nullptr ||
         definition_inside(definition, "pmpi_barrier_f08_") != nullptr;
}

bool are_in_one_file(const void* one, const void* other) {
  Dl_info of_one, of_other;
  return dladdr(one, &of_one) != 0 && dladdr(other, &of_other) != 0 &&
         of_one.dli_fbase == of_other.dli_fbase;
}

void* definition_behind(const void* inside, const char* symbol) {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(inside, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
      map == nullptr)
    return nullptr;
  // The program itself has no name here, and cannot be opened by its path.
  void* const handle =
      dlopen(*map->l_name != '\0' ? map->l_name : nullptr, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = dlsym(handle, symbol);
  dlclose(handle);
  return found;
}

void* definition_inside(const void* inside, const char* symbol) {
  void* const found = definition_behind(inside, symbol);
  return found != nullptr && are_in_one_file(found, inside) ? found : nullptr;
}

Extent extent_of(const void* inside) {
  struct Search {
    std::uintptr_t address;
    Extent found;
  } search{reinterpret_cast<std::uintptr_t>(inside), {}};
  const auto look = [](dl_phdr_info* file, std::size_t, void* context) {
    auto& [address, found] = *static_cast<Search*>(context);
    Extent extent{UINTPTR_MAX, 0};
    for (int i = 0; i < file->dlpi_phnum; ++i) {
      const auto& part = file->dlpi_phdr[i];
      if (part.p_type != PT_LOAD) continue;
      extent.begin =
          std::min(extent.begin, static_cast<std::uintptr_t>(file->dlpi_addr + part.p_vaddr));
      extent.end = std::max(
          extent.end, static_cast<std::uintptr_t>(file->dlpi_addr + part.p_vaddr + part.p_memsz));
    }
    if (address < extent.begin || address >= extent.end) return 0;
    found = extent;
    return 1;
  };
  dl_iterate_phdr(look, &search);
  return search.found;
}

}  // namespace hierbar::mpi
