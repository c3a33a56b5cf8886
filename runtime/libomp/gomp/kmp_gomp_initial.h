// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_INITIAL_H
#define KMP_GOMP_INITIAL_H

// What is outside of all regions: target regions and leagues, in which levels are counted anew.
// Called by kmp_gsupport.cpp, kmp_runtime.cpp and kmp_ftn_entry.h.

#include "kmp.h"

// Runs fn(data) as a target region does: outside of all regions around, with the variables that the
// program began with.
void __kmp_gomp_run_as_initial_thread(void (*fn)(void *), void *data, unsigned thread_limit);
kmp_internal_control_t __kmp_get_global_icvs(void); // kmp_runtime.cpp's

// What such a region counts levels from. It is in the stack of the thread that runs it.
//
// Where a thread is, it finds by the teams outwards from its own: a target region and a league are
// known by the team of one in which they were begun (t_gomp_base, t_gomp_league). Its only thread
// writes these fields, and not while it is in a team inside. So whoever is in that team finds what
// was there at its fork, and it stays there until its join. What the thread begins in the meantime
// is in other teams. A list that is kept by thread would have that too, and change while it is
// read.
typedef struct kmp_gomp_base {
  int level, active_level;
} kmp_gomp_base_t;

// The innermost target region around the calling thread, NULL if there is none.
const kmp_gomp_base_t *__kmp_gomp_find_base();

static inline int __kmp_gomp_base_level() {
  const kmp_gomp_base_t *base = __kmp_gomp_find_base();
  return base ? base->level : 0;
}

static inline int __kmp_gomp_base_active_level() {
  const kmp_gomp_base_t *base = __kmp_gomp_find_base();
  return base ? base->active_level : 0;
}

// The level by libomp's count for one that the program counts; those that do not exist stay so.
static inline int __kmp_gomp_real_level(int level) {
  return level < 0 ? level : level + __kmp_gomp_base_level();
}

// The upper bound of the threads of regions in the current task; 0: none is asked for.
void __kmp_gomp_limit_threads(unsigned thread_limit);

typedef kmp_base_team_t::kmp_gomp_league kmp_gomp_league_t;

// The league in which the calling thread is, NULL if there is none.
const kmp_gomp_league_t *__kmp_gomp_find_league();

// GOMP_teams_reg; 0: not asked for.
void __kmp_gomp_run_league(void (*fn)(void *), void *data, unsigned num_teams,
                           unsigned thread_limit);

#endif // KMP_GOMP_INITIAL_H
