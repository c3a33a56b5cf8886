// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// At the end of a process that `hierbar run` counts: says whether it has loaded another OpenMP runtime
// beside this one, so that a program without served barriers has a reason.

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/files/served_file.hpp"

namespace {

// libgomp.so.1, libgomp-a34b3233.so.1.0.0 (as Python wheels have it), libomp.so.5, libiomp5.so
bool is_runtime_name(const char *name) {
  static const char *const stems[] = {"libgomp", "libomp", "libiomp5"};
  for (const char *stem : stems) {
    const size_t size = strlen(stem);
    if (strncmp(name, stem, size) == 0 && (name[size] == '.' || name[size] == '-') && strstr(name, ".so") != NULL)
      return true;
  }
  return false;
}

int look_at(struct dl_phdr_info *file, size_t, void *own) {
  const char *slash = strrchr(file->dlpi_name, '/');
  if (slash == NULL || !is_runtime_name(slash + 1) || file->dlpi_addr == *static_cast<ElfW(Addr) *>(own))
    return 0;
  char line[4096 + 32];
  const int size = snprintf(line, sizeof line, "%s %s\n", hierbar::kOtherRuntimeLine, file->dlpi_name);
  if (size > 0 && static_cast<size_t>(size) < sizeof line)
    hierbar::add_line_to_served_file(line, static_cast<size_t>(size));
  return 1;
}

// A destructor of the library and not of the runtime: it runs where the runtime was never used, too.
__attribute__((destructor)) void report_other_runtime() {
  if (hierbar::served_file() == NULL)
    return;
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&report_other_runtime), &info) == 0)
    return;
  ElfW(Addr) own = reinterpret_cast<ElfW(Addr)>(info.dli_fbase);
  dl_iterate_phdr(look_at, &own);
}

} // namespace
