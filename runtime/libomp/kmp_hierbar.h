// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_H
#define KMP_HIERBAR_H

// What LLVM's sources include of us. The patches of patches/hooks hold calls and nothing else. What
// is called is declared in the headers below, each of which says from where, and declares the
// functions of the file of its name. Five more headers are included where they are needed:
//
//   barrier/kmp_hierbar_tasks.h     kmp_tasking.cpp: what holds a barrier until its tasks are done
//   barrier/kmp_hierbar_critical.h  where locks are taken and freed
//   barrier/kmp_hierbar_trace.h     ompt-general.cpp: a name that OMPT does not know
//   kmp_hierbar_front.h             entry points with a short way
//   kmp_hierbar_caller.h            ompt-specific.h: addresses that a tool is told
//
// and those of gomp, which gomp/kmp_gomp.h names. To see where a function is called, look for it in
// patches/hooks.

#include "libomp/barrier/kmp_hierbar_exchange.h" // plain barriers
#include "libomp/barrier/kmp_hierbar_phases.h"   // gather and release
#include "libomp/barrier/kmp_hierbar_plan.h"     // plans of teams
#include "libomp/barrier/kmp_hierbar_report.h"   // what is printed at the end
#include "libomp/barrier/kmp_hierbar_waits.h"    // how waits poll, yield and sleep
#include "libomp/kmp_hierbar_other_runtimes.h"   // other OpenMP runtimes in the process
#include "libomp/kmp_hierbar_placement.h"        // cpus of the process, places of its threads
#include "libomp/kmp_hierbar_process.h"          // fork(), threads that end, the end of the process
#include "libomp/kmp_hierbar_settings.h"         // KMP_BARRIER
#include "libomp/region/kmp_hierbar_region.h"    // parallel regions that repeat

#endif // KMP_HIERBAR_H
