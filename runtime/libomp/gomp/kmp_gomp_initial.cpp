// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A target region on the host is run by an initial thread: a team of one at level 0, outside of
// every parallel region and league, with the internal control variables that the program began
// with.
//
// libomp has that for the initial threads of its roots only. Here the encountering thread opens a
// serialized region, which makes it the team of one, and gets the variables' first values. libomp's
// own levels go on counting the regions around, because it finds a level's hot team by them; what
// the program is told of levels is counted from the target region on.

#include "kmp_gomp.h"

#include <atomic>

namespace {

// Target regions that run now. While there are none, nobody looks for one.
std::atomic<int> num_regions{0};

} // namespace

const kmp_gomp_base_t *__kmp_gomp_find_base() {
  if (num_regions.load(std::memory_order_relaxed) == 0) // the calling thread sees its own region and those around it
    return NULL;
  for (const kmp_team_t *team = __kmp_entry_thread()->th.th_team; team; team = team->t.t_parent)
    if (team->t.t_gomp_base)
      return team->t.t_gomp_base;
  return NULL;
}

// The end of the region waits for tasks that were detached in it, and may run others that depend on
// them; so it is left only then.
void __kmp_gomp_run_as_initial_thread(void (*fn)(void *), void *data, unsigned thread_limit) {
  static ident_t loc = {0, KMP_IDENT_KMPC, 0, 0, ";unknown;unknown;0;0;;"};
  const int gtid = __kmp_entry_gtid();
  kmp_info_t *thread = __kmp_threads[gtid];
  const int num_threads = thread->th.th_set_nproc;
  __kmpc_serialized_parallel(&loc, gtid);
  kmp_team_t *team = thread->th.th_team;
  // The task and the team may be those of a serialized region around, whose region, league and
  // variables come back.
  kmp_gomp_base_t base = {team->t.t_level, team->t.t_active_level};
  kmp_gomp_base_t *const base_of_thread = thread->th.th_gomp_base, *const base_of_team = team->t.t_gomp_base;
  const kmp_gomp_league_t league = team->t.t_gomp_league;
  thread->th.th_gomp_base = team->t.t_gomp_base = &base;
  team->t.t_gomp_league = {};
  num_regions.fetch_add(1, std::memory_order_relaxed);
  kmp_internal_control_t *icvs = &thread->th.th_current_task->td_icvs;
  const kmp_internal_control_t outer = *icvs;
  *icvs = __kmp_get_global_icvs();
  icvs->next = outer.next;
  __kmp_gomp_limit_threads(thread_limit);
  fn(data);
  *icvs = outer;
  __kmpc_end_serialized_parallel(&loc, gtid);
  num_regions.fetch_sub(1, std::memory_order_relaxed);
  team->t.t_gomp_league = league;
  team->t.t_gomp_base = base_of_team;
  thread->th.th_gomp_base = base_of_thread;
  thread->th.th_set_nproc = num_threads;
}
