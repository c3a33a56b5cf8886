// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_LIBRARY_H
#define KMP_HIERBAR_LIBRARY_H

// libhierbar.so, which reads the machine and makes plans, and what our files say on stderr.

#include "kmp.h"

#include "service/place_service.h"
#include "service/plan_service.h"

// libhierbar.so, bound when the settings are read; all NULL without it.
struct kmp_hierbar_library_t {
  decltype(&hierbar_check_settings) check_settings;
  decltype(&hierbar_plan_create) plan_create;
  decltype(&hierbar_plan_destroy) plan_destroy;
  decltype(&hierbar_plan_units) plan_units;
  decltype(&hierbar_describe_machine) describe_machine;
  decltype(&hierbar_describe_plan) describe_plan;
  decltype(&hierbar_place) place;
  decltype(&hierbar_cpu_quota) cpu_quota;
  decltype(&hierbar_version) version;
};
extern kmp_hierbar_library_t __kmp_hierbar_library;

// The file of this library, as the loader found it; NULL if the loader does not know.
const char *__kmp_hierbar_own_file();

// Bind libhierbar.so, which lies beside this library. Returns false, after one warning, when it
// cannot be used.
bool __kmp_hierbar_load_library();

// Print one line on stderr: a note, and a warning (not when KMP_WARNINGS=off). The context is not
// used.
void __kmp_hierbar_note(void *context, const char *line);
void __kmp_hierbar_warn(void *context, const char *line);
// One warning with the variable, its value, what is allowed and what happens instead.
void __kmp_hierbar_warn_bad_value(char const *name, char const *value, char const *allowed,
                                  char const *instead);

#endif // KMP_HIERBAR_LIBRARY_H
