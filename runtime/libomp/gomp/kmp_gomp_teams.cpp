// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The `teams` construct of programs that GCC compiled. In a target region it has no function for
// the body, but
//
//   if (GOMP_teams4(low, high, limit, true))
//     do body; while (GOMP_teams4(low, high, limit, false));
//
// so that the encountering thread has to be the initial thread of one team after the other. Each
// team runs its parallel regions with as many threads as it may have. Outside of target regions
// (GOMP_teams_reg) the body is a function; its teams run in turn as well. LLVM's league, which runs
// them at the same time, has to divide the cpus among the teams beforehand: fewer threads, and with
// more teams than cpus fewer teams, than the program asks for.

#include "kmp_gomp.h"

void __kmp_gomp_limit_threads(unsigned thread_limit) {
  if (thread_limit == 0)
    return;
  kmp_info_t *thread = __kmp_entry_thread();
  thread->th.th_current_task->td_icvs.task_thread_limit = (int)KMP_MIN(thread_limit, (unsigned)INT_MAX);
  ++thread->th.th_hierbar_changes;
}

// Of a thread that begins a league where its team has several, each of which may do so. GCC's
// programs begin leagues in teams of one: of the program, or of a target region. Threads of teams
// inside of this one do not see it.
static __thread struct {
  const kmp_team_t *team;
  kmp_gomp_league_t league;
} own_league [[gnu::tls_model("initial-exec")]];

static kmp_gomp_league_t *find_own_league(kmp_team_t *team) {
  if (team->t.t_nproc == 1)
    return &team->t.t_gomp_league;
  if (own_league.team != team) {
    own_league.team = team;
    own_league.league = {};
  }
  return &own_league.league;
}

// A target region is outside of all leagues around it.
const kmp_gomp_league_t *__kmp_gomp_find_league() {
  static const kmp_gomp_league_t none = {1, 0, 0};
  const kmp_team_t *team = __kmp_entry_thread()->th.th_team;
  if (own_league.team == team && own_league.league.num_teams > 0)
    return &own_league.league;
  for (; team; team = team->t.t_parent) {
    if (team->t.t_gomp_league.num_teams > 0)
      return &team->t.t_gomp_league;
    if (team->t.t_gomp_base)
      return &none;
  }
  return NULL;
}

extern "C" {

// Between low and high teams are asked for, 0: any number. Returns whether there is a (or another)
// team to run.
bool KMP_EXPAND_NAME(GOMP_teams4)(unsigned low, unsigned high, unsigned thread_limit, bool first) {
  kmp_info_t *thread = __kmp_entry_thread();
  kmp_gomp_league_t *league = find_own_league(thread->th.th_team);
  int *limit = &thread->th.th_current_task->td_icvs.task_thread_limit;
  if (first) {
    *league = {low > 0 ? (int)low : KMP_MAX(__kmp_get_max_teams(), 1), 0, *limit};
    __kmp_gomp_limit_threads(thread_limit > 0 ? thread_limit : __kmp_get_teams_thread_limit());
    return true;
  }
  if (++league->team_num < league->num_teams)
    return true;
  *limit = league->outer_thread_limit;
  ++thread->th.th_hierbar_changes;
  league->num_teams = 0;
  return false;
}
KMP_VERSION_SYMBOL(GOMP_teams4, 51, "GOMP_5.1");

} // extern "C"

void __kmp_gomp_run_league(void (*fn)(void *), void *data, unsigned num_teams, unsigned thread_limit) {
  KMP_EXPAND_NAME(GOMP_teams4)(num_teams, num_teams, thread_limit, true);
  do
    fn(data);
  while (KMP_EXPAND_NAME(GOMP_teams4)(num_teams, num_teams, thread_limit, false));
}
