// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The `error` directive with at(execution), as libomp does it for Clang.

#include "kmp_gomp.h"

// The length is that of a Fortran string without its end; -1: the message has one.
static void report(int severity, const char *message, size_t length) {
  if (message == NULL)
    return __kmpc_error(NULL, severity, "no message");
  if (length == (size_t)-1)
    return __kmpc_error(NULL, severity, message);
  char *copy = __kmp_str_format("%.*s", (int)KMP_MIN(length, (size_t)INT_MAX), message);
  __kmpc_error(NULL, severity, copy);
  __kmp_str_free(&copy);
}

extern "C" {

void KMP_EXPAND_NAME(GOMP_warning)(const char *message, size_t length) { report(severity_warning, message, length); }
KMP_VERSION_SYMBOL(GOMP_warning, 51, "GOMP_5.1");

// Does not return.
void KMP_EXPAND_NAME(GOMP_error)(const char *message, size_t length) { report(severity_fatal, message, length); }
KMP_VERSION_SYMBOL(GOMP_error, 51, "GOMP_5.1");

} // extern "C"
