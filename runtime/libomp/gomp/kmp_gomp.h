// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_H
#define KMP_GOMP_H

// What libomp lacks for programs that GCC compiled; GOMP.md lists every entry point. LLVM's
// kmp_gsupport.cpp has the older ones. The patch includes this header, and kmp_gomp_lock.h and
// kmp_gomp_ompt.h where they are needed, and adds GCC's newer version names to exports_so.txt. Each
// header says from where its functions are called, and declares those of the file of its name.

#include "libomp/gomp/kmp_gomp_cancel.h"    // leaving cancelled loops and regions
#include "libomp/gomp/kmp_gomp_entry.h"     // entry points that are called here, and their export
#include "libomp/gomp/kmp_gomp_initial.h"   // target regions and leagues: what levels begin at
#include "libomp/gomp/kmp_gomp_memory.h"    // allocators
#include "libomp/gomp/kmp_gomp_messages.h"  // differences that a program is told of
#include "libomp/gomp/kmp_gomp_target.h"    // target regions
#include "libomp/gomp/kmp_gomp_task.h"      // tasks and taskloops
#include "libomp/gomp/kmp_gomp_workshare.h" // schedules, shared memory, task reductions

#endif // KMP_GOMP_H
