// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace hierbar {

// The file of the program or library that has this code or variable, by the name by which the
// loader found it. Null: none has. The loader frees it with the library.
inline const char* file_with(const void* address) noexcept {
  Dl_info found;
  return dladdr(address, &found) != 0 ? found.dli_fname : nullptr;
}

// Where `file` of a loaded program or library is in the end, whatever links lead there; false: that
// is not known. The loader keeps a relative path, as it comes with LD_LIBRARY_PATH=lib, which means
// nothing once the program has changed its directory; but it has made the directory absolute at
// once.
inline bool find_loaded_file(const char* file, char (&path)[PATH_MAX]) noexcept {
  char absolute[PATH_MAX] = "";
  void* const loaded = *file != '/' ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (loaded != nullptr) {
    const bool is_known = dlinfo(loaded, RTLD_DI_ORIGIN, absolute) == 0;
    dlclose(loaded);
    const char* const slash = strrchr(file, '/');
    const char* const name = slash != nullptr ? slash + 1 : file;
    const size_t length = strlen(absolute);
    if (!is_known || length + 1 + strlen(name) + 1 > sizeof(absolute)) return false;
    absolute[length] = '/';
    strcpy(absolute + length + 1, name);
  }
  return realpath(loaded != nullptr ? absolute : file, path) != nullptr;
}

// Opens a library of hierbar's from the one whose file is `own_file`: `file` in the directory where
// that lies in the end, whatever links lead there; if no such file is there, or `own_file` is null,
// the library that the loader finds by `name`. Null: dlerror() says why. A file that is there and
// cannot be used is not hidden behind another one.
//
//   void* library = open_library_beside(file_with(&variable_of_ours), "libhierbar.so",
//                                       "libhierbar.so.0");
//
// RTLD_LOCAL, so that the program's own libraries are not disturbed. Never unloaded: what they have
// read about the machine, and plans, live in them. No variable has a say where the environment is
// untrusted: the loader then ignores LD_LIBRARY_PATH.
//
// Without memory of its own and the C++ library, which libomp has not.
inline void* open_library_beside(const char* own_file, const char* file,
                                 const char* name) noexcept {
  constexpr int kMode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  char path[PATH_MAX];
  if (own_file == nullptr || !find_loaded_file(own_file, path)) return dlopen(name, kMode);
  char* const behind_slash = strrchr(path, '/') + 1;  // the path is absolute
  const size_t file_bytes = strlen(file) + 1;
  if (static_cast<size_t>(behind_slash - path) + file_bytes > sizeof(path))
    return dlopen(name, kMode);
  memcpy(behind_slash, file, file_bytes);
  void* const library = dlopen(path, kMode);
  return library != nullptr || access(path, F_OK) == 0 ? library : dlopen(name, kMode);
}

}  // namespace hierbar
