// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The `interop` construct and its queries. An interoperability object stands for a stream of a
// device, and there is no device. So each object is omp_interop_none, which is NULL. For programs
// linked with GCC's versions; Clang's get these from libomptarget.

#include "kmp_gomp.h"

namespace {

// Values of OpenMP's enumerations.
enum property_t { first_property = -9, last_property = -1 };
enum return_code_t { no_value = 1, success = 0, empty = -1, out_of_range = -2, wrong_type_string = -5 };

void set(int *code, int property) {
  if (code)
    *code = property < first_property || property > last_property ? out_of_range : empty;
}

// How gfortran gets a string as a result: its address and its length.
void give(const char *string, const char **result, size_t *length) {
  *result = string;
  *length = string ? strlen(string) : 0;
}

} // namespace

extern "C" {

// Each element of `init` and `destroy` is the address of an object.
void __kmp_gomp_GOMP_interop(int device, int num_init, void ***init, const int *target_or_sync, const char **prefer_type,
                             int num_use, void **use, int num_destroy, void ***destroy, unsigned flags, void **depend) {
  for (int i = 0; i < num_destroy; ++i)
    *destroy[i] = NULL;
  for (int i = 0; i < num_init; ++i)
    *init[i] = NULL;
  // With nowait too: nothing runs that could go on meanwhile.
  if (depend)
    KMP_EXPAND_NAME(GOMP_taskwait_depend)(depend);
}
KMP_GOMP_EXPORT(GOMP_interop, "GOMP_5.1.3");

// ---- queries; gfortran calls those with a trailing underscore ----

// Counts only properties beyond those of the standard.
int __kmp_gomp_omp_get_num_interop_properties(void *object) { return 0; }
KMP_GOMP_EXPORT(omp_get_num_interop_properties, "GOMP_5.1.3");

intptr_t __kmp_gomp_omp_get_interop_int(void *object, int property, int *code) {
  set(code, property);
  return 0;
}
KMP_GOMP_EXPORT(omp_get_interop_int, "GOMP_5.1.3");

void *__kmp_gomp_omp_get_interop_ptr(void *object, int property, int *code) {
  set(code, property);
  return NULL;
}
KMP_GOMP_EXPORT(omp_get_interop_ptr, "GOMP_5.1.3");

const char *__kmp_gomp_omp_get_interop_str(void *object, int property, int *code) {
  set(code, property);
  return NULL;
}
KMP_GOMP_EXPORT(omp_get_interop_str, "GOMP_5.1.3");

void __kmp_gomp_omp_get_interop_str_(const char **result, size_t *length, void *object, int property, int *code) {
  give(__kmp_gomp_omp_get_interop_str(object, property, code), result, length);
}
KMP_GOMP_EXPORT(omp_get_interop_str_, "GOMP_5.1.3");

const char *__kmp_gomp_omp_get_interop_name(void *object, int property) {
  // OpenMP's names, from last_property down.
  static const char *const names[] = {"fr_id",    "fr_name", "vendor",         "vendor_name", "device_num",
                                      "platform", "device",  "device_context", "targetsync"};
  return property < first_property || property > last_property ? NULL : names[last_property - property];
}
KMP_GOMP_EXPORT(omp_get_interop_name, "GOMP_5.1.3");

void __kmp_gomp_omp_get_interop_name_(const char **result, size_t *length, void *object, int property) {
  give(__kmp_gomp_omp_get_interop_name(object, property), result, length);
}
KMP_GOMP_EXPORT(omp_get_interop_name_, "GOMP_5.1.3");

const char *__kmp_gomp_omp_get_interop_type_desc(void *object, int property) { return NULL; }
KMP_GOMP_EXPORT(omp_get_interop_type_desc, "GOMP_5.1.3");

void __kmp_gomp_omp_get_interop_type_desc_(const char **result, size_t *length, void *object, int property) {
  give(NULL, result, length);
}
KMP_GOMP_EXPORT(omp_get_interop_type_desc_, "GOMP_5.1.3");

const char *__kmp_gomp_omp_get_interop_rc_desc(void *object, int code) {
  // From no_value down.
  static const char *const texts[] = {"there is no such value",
                                      "success",
                                      "the interoperability object is omp_interop_none",
                                      "there is no property of this number",
                                      "the property is an integer: ask omp_get_interop_int",
                                      "the property is a pointer: ask omp_get_interop_ptr",
                                      "the property is a string: ask omp_get_interop_str"};
  return code < wrong_type_string || code > no_value ? NULL : texts[no_value - code];
}
KMP_GOMP_EXPORT(omp_get_interop_rc_desc, "GOMP_5.1.3");

void __kmp_gomp_omp_get_interop_rc_desc_(const char **result, size_t *length, void *object, int code) {
  give(__kmp_gomp_omp_get_interop_rc_desc(object, code), result, length);
}
KMP_GOMP_EXPORT(omp_get_interop_rc_desc_, "GOMP_5.1.3");

} // extern "C"
