// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_REPORT_H
#define KMP_HIERBAR_REPORT_H

// What HIERBAR_VERBOSE=1 prints. Called by kmp_runtime.cpp, when the library is cleaned up.

#include "kmp.h"

#include "service/plan_service.h"

struct kmp_hierbar_team;

// The report: start it, after libhierbar.so took load_ns to load; the teams whose episodes it
// counts.
void __kmp_hierbar_start_report(kmp_uint64 load_ns);
void __kmp_hierbar_register(struct kmp_hierbar_team *team);
void __kmp_hierbar_unregister(struct kmp_hierbar_team *team);
// Prints the tree, the first plan and what they cost, once.
void __kmp_hierbar_describe_once(const hierbar_plan *plan, kmp_uint64 plan_ns);

// The library is cleaned up, or the process ends: prints the report.
void __kmp_hierbar_finish();

#endif // KMP_HIERBAR_REPORT_H
