// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// OpenACC, which GCC has in the same library. It is not here, and each function says so when it is
// called. Without them a program with any OpenACC in it could not start, and the dynamic linker
// would not tell what to do.

#include "kmp_gomp.h"
#include "kmp_io.h"

static void refuse(const char *function) {
  __kmp_printf(
      "OMP: Error: the program calls %s, which is OpenACC; this libgomp.so.1 has OpenMP only. Run the program with GCC's "
      "libgomp.so.1: take this one's directory out of LD_LIBRARY_PATH\n",
      function);
  __kmp_abort_process();
}

extern "C" {
#define KMP_GOMP_REFUSE(name, version)                                                                                           \
  void __kmp_gomp_##name(void) { refuse(#name); }                                                                                \
  KMP_GOMP_EXPORT(name, version);
#include "kmp_gomp_openacc.inc" // sources.cmake makes it from gcc_functions.txt
} // extern "C"
