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

#include "libomp/gomp/kmp_gomp_initial.h"

#include <atomic>

#include "kmp_itt.h"
#include "libomp/gomp/kmp_gomp_entry.h"
#include "libomp/gomp/kmp_gomp_ompt.h"

namespace {

// Target regions that run now. While there are none, nobody looks for one.
std::atomic<int> num_regions{0};

ident_t loc = {0, KMP_IDENT_KMPC, 0, 0, ";unknown;unknown;0;0;;"};

// In this state libomp tells a tool of no serialized region. The program has none: the tool is told
// of an initial task.
void hide_region(kmp_info_t *thread) {
#if OMPT_SUPPORT
  if (ompt_enabled.enabled)
    thread->th.ompt_thread_info.state = ompt_state_overhead;
#endif
}

void begin_initial_task(int gtid) {
  kmp_info_t *thread = __kmp_threads[gtid];
#if OMPT_SUPPORT
  if (ompt_enabled.enabled)
    OMPT_CUR_TASK_INFO(thread)->frame.enter_frame.ptr = OMPT_GET_FRAME_ADDRESS(0);
#endif
  hide_region(thread);
  __kmpc_serialized_parallel(&loc, gtid);
#if OMPT_SUPPORT
  if (!ompt_enabled.enabled)
    return;
  ompt_lw_taskteam_t task;
  ompt_data_t no_region = ompt_data_none;
  __ompt_lw_taskteam_init(&task, thread, gtid, &no_region, NULL);
  __ompt_lw_taskteam_link(&task, thread, 1);
  OMPT_CUR_TASK_INFO(thread)->thread_num = 0;
  OMPT_CUR_TASK_INFO(thread)->frame.exit_frame.ptr = OMPT_GET_FRAME_ADDRESS(0);
  thread->th.ompt_thread_info.state = ompt_state_work_serial;
  if (ompt_enabled.ompt_callback_implicit_task)
    ompt_callbacks.ompt_callback(ompt_callback_implicit_task)(
        ompt_scope_begin, OMPT_CUR_TEAM_DATA(thread), OMPT_CUR_TASK_DATA(thread), 1, 1,
        ompt_task_initial);
#endif
}

// Tasks that were detached, and what depends on them, may outlast the statements of the region, and
// belong to it. libomp waits for them when the serialized region ends, as here: that would be too
// late for who asks for levels, and for a tool.
void wait_for_tasks(kmp_info_t *thread) {
  const kmp_task_team_t *task_team = thread->th.th_task_team;
  if (task_team &&
      (task_team->tt.tt_found_proxy_tasks || task_team->tt.tt_hidden_helper_task_encountered))
    __kmp_task_team_wait(thread, thread->th.th_team USE_ITT_BUILD_ARG(NULL));
}

void end_initial_task(int gtid) {
  kmp_info_t *thread = __kmp_threads[gtid];
#if OMPT_SUPPORT
  if (ompt_enabled.enabled) {
    OMPT_CUR_TASK_INFO(thread)->frame.exit_frame = ompt_data_none;
    if (ompt_enabled.ompt_callback_implicit_task)
      ompt_callbacks.ompt_callback(ompt_callback_implicit_task)(
          ompt_scope_end, NULL, OMPT_CUR_TASK_DATA(thread), 0, 1, ompt_task_initial);
    __ompt_lw_taskteam_unlink(thread);
  }
#endif
  hide_region(thread);
  __kmpc_end_serialized_parallel(&loc, gtid);
#if OMPT_SUPPORT
  if (ompt_enabled.enabled)
    OMPT_CUR_TASK_INFO(thread)->frame.enter_frame = ompt_data_none;
#endif
}

} // namespace

const kmp_gomp_base_t *__kmp_gomp_find_base() {
  if (num_regions.load(std::memory_order_relaxed) ==
      0) // the calling thread sees its own region and those around it
    return NULL;
  for (const kmp_team_t *team = __kmp_entry_thread()->th.th_team; team; team = team->t.t_parent)
    if (team->t.t_gomp_base)
      return team->t.t_gomp_base;
  return NULL;
}

void __kmp_gomp_run_as_initial_thread(void (*fn)(void *), void *data, unsigned thread_limit) {
  const int gtid = __kmp_entry_gtid();
  kmp_info_t *thread = __kmp_threads[gtid];
  const int num_threads = thread->th.th_set_nproc;
  begin_initial_task(gtid);
  kmp_team_t *team = thread->th.th_team;
  // The task and the team may be those of a serialized region around, whose region, league and
  // variables come back.
  kmp_gomp_base_t base = {team->t.t_level, team->t.t_active_level};
  kmp_gomp_base_t *const base_of_thread = thread->th.th_gomp_base, *const base_of_team =
                                                                       team->t.t_gomp_base;
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
  wait_for_tasks(thread);
  *icvs = outer;
  num_regions.fetch_sub(1, std::memory_order_relaxed);
  team->t.t_gomp_league = league;
  team->t.t_gomp_base = base_of_team;
  thread->th.th_gomp_base = base_of_thread;
  end_initial_task(gtid);
  thread->th.th_set_nproc = num_threads;
}

// ---- leagues ----

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

void __kmp_gomp_limit_threads(unsigned thread_limit) {
  if (thread_limit == 0)
    return;
  kmp_info_t *thread = __kmp_entry_thread();
  thread->th.th_current_task->td_icvs.task_thread_limit =
      (int)KMP_MIN(thread_limit, (unsigned)INT_MAX);
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

void __kmp_gomp_run_league(void (*fn)(void *), void *data, unsigned num_teams,
                           unsigned thread_limit) {
  KMP_EXPAND_NAME(GOMP_teams4)(num_teams, num_teams, thread_limit, true);
  do
    fn(data);
  while (KMP_EXPAND_NAME(GOMP_teams4)(num_teams, num_teams, thread_limit, false));
}
