// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What HIERBAR_VERBOSE=1 prints: the tree, the first plan and what they cost, and at the end which
// way the episodes went.

#include "libomp/barrier/kmp_hierbar_report.h"

#include <unistd.h>

#include "base/served_file.hpp"
#include "kmp_hierbar_team.h"
#include "kmp_str.h"
#include "libomp/barrier/kmp_hierbar_team.h"
#include "libomp/barrier/kmp_hierbar_waits.h"
#include "libomp/kmp_hierbar_library.h"
#include "libomp/kmp_hierbar_settings.h"
#include "libomp/region/kmp_hierbar_region_record.h"

static KMP_BOOTSTRAP_LOCK_INIT(lock); // guards what follows
static kmp_hierbar_team_t *teams = NULL;
static kmp_hierbar_counts_t counts_of_freed_teams;
static pid_t owner = 0; // a forked child starts its own count
static bool described = false;
static kmp_uint64 library_ns = 0;

static void add(kmp_hierbar_counts_t *sum, const kmp_hierbar_counts_t *counts) {
  sum->fast += counts->fast;
  sum->slow += counts->slow;
  sum->led += counts->led;
  sum->phased += counts->phased;
  sum->stock += counts->stock;
  sum->lean += counts->lean;
  sum->ordinary += counts->ordinary;
}

// Called at each initialisation: also in a forked child, whose copy of the parent's teams is never
// used again, and whose lock may have been copied while it was held.
void __kmp_hierbar_start_report(kmp_uint64 load_ns) {
  __kmp_init_bootstrap_lock(&lock);
  library_ns = load_ns;
  if (owner == getpid())
    return;
  owner = getpid();
  teams = NULL;
  described = false;
  memset(&counts_of_freed_teams, 0, sizeof(counts_of_freed_teams));
}

void __kmp_hierbar_register(kmp_hierbar_team_t *team) {
  __kmp_acquire_bootstrap_lock(&lock);
  team->previous = NULL;
  team->next = teams;
  if (teams != NULL)
    teams->previous = team;
  teams = team;
  __kmp_release_bootstrap_lock(&lock);
}

void __kmp_hierbar_unregister(kmp_hierbar_team_t *team) {
  __kmp_acquire_bootstrap_lock(&lock);
  add(&counts_of_freed_teams, &team->counts);
  if (team->next != NULL)
    team->next->previous = team->previous;
  if (team->previous != NULL)
    team->previous->next = team->next;
  else
    teams = team->next;
  __kmp_release_bootstrap_lock(&lock);
}

void __kmp_hierbar_describe_once(const hierbar_plan *plan, kmp_uint64 plan_ns) {
  __kmp_acquire_bootstrap_lock(&lock);
  const bool first = !described;
  described = true;
  __kmp_release_bootstrap_lock(&lock);
  if (!first)
    return;
  // A plan that depends on the machine loads it; what is wrong with the settings for it is then
  // told as a warning, not as a note.
  const hierbar_plan *smallest = NULL;
  if (__kmp_hierbar_library.plan_create(hierbar::kMaxMachineIndependent + 1, NULL,
                                        __kmp_hierbar_warn, NULL, &smallest) == 0)
    __kmp_hierbar_library.plan_destroy(smallest);
  __kmp_hierbar_library.describe_machine(__kmp_hierbar_note, NULL);
  __kmp_hierbar_library.describe_plan(plan, __kmp_hierbar_note, NULL);
  kmp_str_buf_t text;
  __kmp_str_buf_init(&text);
  __kmp_str_buf_print(&text, "start: loading libhierbar.so %.3f ms, first plan %.3f ms",
                      (double)library_ns / 1e6, (double)plan_ns / 1e6);
  __kmp_hierbar_note(NULL, text.str);
  __kmp_str_buf_free(&text);
}

static void report_regions(const kmp_hierbar_counts_t *sum) {
  kmp_str_buf_t text;
  __kmp_str_buf_init(&text);
  __kmp_str_buf_print(&text, "regions: lean %llu, ordinary %llu", sum->lean, sum->ordinary);
  if (const char *reason = __kmp_hierbar_last_reason())
    __kmp_str_buf_print(&text, "; the last ordinary one because %s", reason);
  __kmp_hierbar_note(NULL, text.str);
  __kmp_str_buf_free(&text);
}

// Prints nothing where no team was ever made, as in a forked child that goes its own way.
void __kmp_hierbar_finish() {
  if (!__kmp_hierbar_enabled || owner != getpid())
    return;
  __kmp_acquire_bootstrap_lock(&lock); // at the end of the process other threads go on
  kmp_hierbar_counts_t sum = counts_of_freed_teams;
  for (kmp_hierbar_team_t *team = teams; team != NULL; team = team->next)
    add(&sum, &team->counts);
  __kmp_release_bootstrap_lock(&lock);
  hierbar::add_to_served_file("openmp", sum.fast + sum.slow + sum.led + sum.phased, sum.stock);
  if (!__kmp_hierbar_verbose || !described)
    return;
  kmp_str_buf_t text;
  __kmp_str_buf_init(&text);
  __kmp_str_buf_print(&text, "episodes: fast %llu, slow %llu, gather and release %llu, stock %llu",
                      sum.fast + sum.led, sum.slow, sum.phased, sum.stock);
  __kmp_hierbar_note(NULL, text.str);
  if (sum.led != 0) {
    __kmp_str_buf_clear(&text);
    __kmp_str_buf_print(
        &text, "late primaries released the others themselves in %llu of the fast ones", sum.led);
    __kmp_hierbar_note(NULL, text.str);
  }
  report_regions(&sum);
  if (const kmp_uint64 num_long_yields = __kmp_hierbar_contention.num_long_yields()) {
    __kmp_str_buf_clear(&text);
    __kmp_str_buf_print(&text,
                        "others held this process's cpus: %llu yields took longer than 1 ms; waits "
                        "slept early for 200 ms after "
                        "%llu of them",
                        num_long_yields, (kmp_uint64)__kmp_hierbar_contention.num_times());
    __kmp_hierbar_note(NULL, text.str);
  }
  __kmp_str_buf_free(&text);
}
