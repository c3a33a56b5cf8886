// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variables of GCC's library that do nothing here. A user who has set one for a program that GCC
// compiled is told once.

#include "kmp_gomp.h"
#include "kmp_i18n.h"
#include "kmp_io.h"

#include "base/trusted_variable.hpp"

#include <atomic>
#include <dlfcn.h>
#include <string.h>

namespace {

struct variable_t {
  const char *name, *instead;
};

const variable_t variables[] = {
    {"GOMP_SPINCOUNT", "KMP_BLOCKTIME says how long a thread spins before it sleeps"},
    {"GOMP_RTEMS_THREAD_POOLS", "there are no thread pools to choose"},
    {"GOMP_DEBUG", "KMP_SETTINGS=1 and HIERBAR_VERBOSE=1 print what is set and done"},
};

} // namespace

static bool has_name_of_gcc() {
  Dl_info library;
  const char *const name = "/libgomp.so.1";
  if (!dladdr((void *)&has_name_of_gcc, &library) || !library.dli_fname)
    return false;
  const size_t length = strlen(library.dli_fname);
  return length >= strlen(name) && strcmp(library.dli_fname + length - strlen(name), name) == 0;
}

bool __kmp_gomp_is_loaded_for_gcc() {
  enum { not_asked, no, yes };
  static std::atomic<int> answer{not_asked}; // relaxed: each thread would find the same
  if (answer.load(std::memory_order_relaxed) == not_asked)
    answer.store(has_name_of_gcc() ? yes : no, std::memory_order_relaxed);
  return answer.load(std::memory_order_relaxed) == yes;
}

void __kmp_gomp_report_variables() {
  static bool reported = false; // settings are read under a lock
  if (reported || __kmp_generate_warnings == kmp_warnings_off || !__kmp_gomp_is_loaded_for_gcc())
    return;
  reported = true;
  for (const variable_t &variable : variables) {
    const char *value = hierbar::trusted_variable(variable.name);
    if (value && *value)
      __kmp_printf("OMP: Warning: %s=\"%s\" has no effect: this is LLVM's OpenMP runtime in place of GCC's; %s\n", variable.name,
                   value, variable.instead);
  }
}
