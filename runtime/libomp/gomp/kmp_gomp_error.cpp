// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The `error` directive with at(execution): GCC's text, which scripts may look for, and its way to
// end the program. LLVM's ends it by abort().

#include "kmp_gomp.h"
#if OMPT_SUPPORT
#include "ompt-specific.h"
#endif

#include <stdio.h>

// The length is that of a Fortran string without its end; -1: the message has one.
static void report(int severity, const char *message, size_t length, void *return_address) {
  if (!__kmp_init_serial)
    __kmp_serial_initialize(); // a tool may want to be told
  if (message == NULL)
    length = 0;
  else if (length == (size_t)-1)
    length = KMP_STRLEN(message);
#if OMPT_SUPPORT
  if (ompt_enabled.enabled && ompt_enabled.ompt_callback_error) {
    ompt_callbacks.ompt_callback(ompt_callback_error)((ompt_severity_t)severity, message ? message : "", length, return_address);
  }
#endif
  // One call, so that the lines of several threads do not mix.
  fprintf(stderr, "\nlibgomp: %serror directive encountered%s%.*s\n", severity == severity_fatal ? "fatal error: " : "",
          message ? ": " : "", (int)KMP_MIN(length, (size_t)INT_MAX), message ? message : "");
}

extern "C" {

void KMP_EXPAND_NAME(GOMP_warning)(const char *message, size_t length) {
  report(severity_warning, message, length, __builtin_return_address(0));
}
KMP_VERSION_SYMBOL(GOMP_warning, 51, "GOMP_5.1");

// Does not return.
void KMP_EXPAND_NAME(GOMP_error)(const char *message, size_t length) {
  report(severity_fatal, message, length, __builtin_return_address(0));
  exit(EXIT_FAILURE);
}
KMP_VERSION_SYMBOL(GOMP_error, 51, "GOMP_5.1");

} // extern "C"
