// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_COMPAT_H
#define KMP_HIERBAR_COMPAT_H

// What differs between the versions of libomp that our files are built into, and what libomp has
// and does not declare. KMP_HIERBAR_LLVM_MAJOR comes from sources.cmake. The rest of the barrier's
// surroundings (kmp_bstate_t, the flags, task teams, when which thread touches them) is the same in
// all versions below.

#include "kmp.h"

#if KMP_HIERBAR_LLVM_MAJOR != 19 && KMP_HIERBAR_LLVM_MAJOR != 22 && KMP_HIERBAR_LLVM_MAJOR != 23
#error "Unknown version of libomp: read its barriers and task teams, and say below what it has."
#endif

// True when libomp calls an offload runtime at the beginning of each barrier, which may create
// proxy tasks. LLVM 19's barriers have no such call.
static inline bool __kmp_hierbar_barrier_calls_offload() {
#if KMP_HIERBAR_LLVM_MAJOR >= 22 && ENABLE_LIBOMPTARGET
  return kmp_target_sync_cb != NULL;
#else
  return false;
#endif
}

// libomp's clock; on x86 kmp.h does not declare it.
extern kmp_uint64 __kmp_now_nsec();

#endif // KMP_HIERBAR_COMPAT_H
