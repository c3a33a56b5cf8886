// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace hierbar::bench {

// The file that a function of this process comes from, without symbolic links; "unknown" if there
// is no such function.
inline std::string file_of(const char* symbol) {
  Dl_info info{};
  void* const address = dlsym(RTLD_DEFAULT, symbol);
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "unknown";
  char* const resolved = realpath(info.dli_fname, nullptr);
  const std::string path = resolved == nullptr ? info.dli_fname : resolved;
  std::free(resolved);
  return path;
}

}  // namespace hierbar::bench
