// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "libomp/kmp_hierbar_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>

#include <atomic>

#include "base/library_beside.hpp"
#include "kmp_io.h"
#include "kmp_str.h"

kmp_hierbar_library_t __kmp_hierbar_library;

void __kmp_hierbar_note(void *context, const char *line) {
  __kmp_printf("OMP: hierbar: %s\n", line);
}

void __kmp_hierbar_warn(void *context, const char *line) {
  if (__kmp_generate_warnings != kmp_warnings_off)
    __kmp_printf("OMP: Warning: hierbar: %s\n", line);
}

void __kmp_hierbar_warn_bad_value(char const *name, char const *value, char const *allowed,
                                  char const *instead) {
  kmp_str_buf_t text;
  __kmp_str_buf_init(&text);
  __kmp_str_buf_print(&text, "%s=\"%s\" is not one of %s; %s", name, value, allowed, instead);
  __kmp_hierbar_warn(NULL, text.str);
  __kmp_str_buf_free(&text);
}

// The name of the object that has this function's code; for dl_iterate_phdr().
static int find_own_name(struct dl_phdr_info *object, size_t, void *name) {
  const uintptr_t own = (uintptr_t)&find_own_name;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = object->dlpi_phdr[i];
    if (part.p_type == PT_LOAD && own - (object->dlpi_addr + part.p_vaddr) < part.p_memsz) {
      *(const char **)name = object->dlpi_name;
      return 1;
    }
  }
  return 0;
}

// dladdr() would search all symbols of this library for the nearest one.
const char *__kmp_hierbar_own_file() {
  // Relaxed: each thread would find the same, which the loader never frees.
  static std::atomic<const char *> known{NULL};
  const char *file = known.load(std::memory_order_relaxed);
  if (file == NULL && dl_iterate_phdr(find_own_name, &file) != 0)
    known.store(file, std::memory_order_relaxed);
  return file;
}

template <class Function> static bool bind(void *library, char const *symbol, Function *function) {
  *function = (Function)dlsym(library, symbol);
  return *function != NULL;
}

bool __kmp_hierbar_load_library() {
  if (__kmp_hierbar_library.plan_create != NULL)
    return true;
  kmp_hierbar_library_t found;
  uint32_t (*abi_version)(void);
  char const *problem = NULL;
  void *library =
      hierbar::open_library_beside(__kmp_hierbar_own_file(), "libhierbar.so", "libhierbar.so.0");
  if (library == NULL) {
    problem = dlerror();
  } else if (!bind(library, "hierbar_plan_abi_version", &abi_version) ||
             abi_version() != HIERBAR_PLAN_ABI_VERSION ||
             !bind(library, "hierbar_check_settings", &found.check_settings) ||
             !bind(library, "hierbar_plan_create", &found.plan_create) ||
             !bind(library, "hierbar_plan_destroy", &found.plan_destroy) ||
             !bind(library, "hierbar_plan_units", &found.plan_units) ||
             !bind(library, "hierbar_describe_machine", &found.describe_machine) ||
             !bind(library, "hierbar_describe_plan", &found.describe_plan) ||
             !bind(library, "hierbar_place", &found.place) ||
             !bind(library, "hierbar_cpu_quota", &found.cpu_quota) ||
             !bind(library, "hierbar_version", &found.version)) {
    problem = "libhierbar.so and this libomp.so have different versions";
  }
  if (problem == NULL) {
    __kmp_hierbar_library = found;
    return true;
  }
  kmp_str_buf_t text;
  __kmp_str_buf_init(&text);
  __kmp_str_buf_print(&text,
                      "KMP_BARRIER=hier needs libhierbar.so in libomp.so's directory (%s); using "
                      "the default barrier",
                      problem);
  __kmp_hierbar_warn(NULL, text.str);
  __kmp_str_buf_free(&text);
  return false;
}
