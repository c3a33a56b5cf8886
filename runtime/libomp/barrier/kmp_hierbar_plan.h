// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_PLAN_H
#define KMP_HIERBAR_PLAN_H

// Plans of teams. Called by kmp_runtime.cpp.

#include "kmp.h"

// The primary, before it releases a fork, while all workers wait.
void __kmp_hierbar_prepare(kmp_team_t *team);

// When a team structure is freed.
void __kmp_hierbar_free_team(kmp_team_t *team);

// hierbar_trace_interface.units, for a team that has a plan.
uint32_t __kmp_hierbar_units(kmp_team_t *team, uint8_t *units);

#endif // KMP_HIERBAR_PLAN_H
