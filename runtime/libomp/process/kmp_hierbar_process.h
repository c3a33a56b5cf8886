// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_PROCESS_H
#define KMP_HIERBAR_PROCESS_H

// What the patch calls for the process around the teams: it is forked.
//
//   z_Linux_util.cpp
//     __kmp_hierbar_forget_parent       first of all in a forked child

#include "kmp.h"

// In a forked child, which has one thread and a copy of all that the parent knew. libomp forgets
// the teams itself; this forgets what libomp leaves. `has_key`: __kmp_gtid_threadprivate_key is one
// of the parent's keys.
void __kmp_hierbar_forget_parent(bool has_key);

#endif // KMP_HIERBAR_PROCESS_H
