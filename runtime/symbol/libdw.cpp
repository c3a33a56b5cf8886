// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symbol/libdw.hpp"

#include <dlfcn.h>

namespace hierbar {
namespace {

const Libdw* load() {
  void* const library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  static Libdw functions;
  bool is_complete = true;
#define HIERBAR_LOAD(name)                                                            \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, #name)); \
  is_complete = is_complete && functions.name != nullptr;
  HIERBAR_LIBDW_FUNCTIONS(HIERBAR_LOAD)
#undef HIERBAR_LOAD
  return is_complete ? &functions : nullptr;
}

}  // namespace

const Libdw* load_libdw() {
  static const Libdw* const loaded = load();
  return loaded;
}

}  // namespace hierbar
