// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_CALLER_H
#define KMP_HIERBAR_CALLER_H

// The address of the program that a tool is told for a call. A compiler lets a function that ends
// with a barrier jump to the runtime's entry point. The return address is then the one of the
// function's own caller. If that is libomp, because the function is a region or a task, all regions
// of the program would share one address, and it would be none of the program.

#include "kmp.h"

// Both are made by the linker: where libomp's file begins in memory, and where its code ends.
extern "C" {
extern char __ehdr_start[] __attribute__((visibility("hidden")));
extern char etext[] __attribute__((visibility("hidden")));
}

static inline bool __kmp_hierbar_is_own_code(const void *address) {
  return (kmp_uintptr_t)address - (kmp_uintptr_t)__ehdr_start <
         (kmp_uintptr_t)(etext - __ehdr_start);
}

// The byte behind the first one of the function of the region or task that the thread runs; NULL if
// it is not known. A return address is the one behind a call, so tools look for the byte before it.
void *__kmp_hierbar_running_function(const kmp_info_t *thread);

// What a tool is told in place of a return address. NULL stays NULL.
static inline void *__kmp_hierbar_caller(const kmp_info_t *thread, void *return_address) {
  if (!__kmp_hierbar_is_own_code(return_address))
    return return_address;
  void *function = __kmp_hierbar_running_function(thread);
  return function != NULL ? function : return_address;
}

static inline void *__kmp_hierbar_caller(int gtid, void *return_address) {
  const kmp_info_t *thread = gtid >= 0 ? __kmp_threads[gtid] : NULL;
  return thread != NULL ? __kmp_hierbar_caller(thread, return_address) : return_address;
}

#endif // KMP_HIERBAR_CALLER_H
