// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The entry through which a tool finds the stamps.

#include "libomp/barrier/kmp_hierbar_trace.h"

#include <string.h>

#include "libomp/barrier/kmp_hierbar_plan.h"
#include "libomp/kmp_hierbar_library.h"
#include "libomp/kmp_hierbar_placement.h"
#include "libomp/kmp_hierbar_settings.h"

bool __kmp_hierbar_traced = false;
kmp_hierbar_observer_t __kmp_hierbar_observer;
hierbar::ClockSource __kmp_hierbar_trace_clock = hierbar::ClockSource::kSystem;

__thread hierbar_phases *__kmp_hierbar_next_phases;

static void enable(uint32_t clock, void (*waiting)(void)) {
  __kmp_hierbar_trace_clock = (hierbar::ClockSource)clock;
  __kmp_hierbar_observer.waiting = waiting;
  __kmp_hierbar_traced = true;
}

static void observe(hierbar_phases *(*begin)(uint32_t, void *, const void *), void (*end)(void)) {
  __kmp_hierbar_observer.begin = begin;
  __kmp_hierbar_observer.end = end;
}

static hierbar_phases **next_phases() { return &__kmp_hierbar_next_phases; }

// The calling thread's team, if it has a plan.
static kmp_team_t *planned_team(uint32_t capacity) {
  const int gtid = __kmp_get_gtid();
  if (gtid < 0)
    return NULL;
  kmp_team_t *team = __kmp_threads[gtid]->th.th_team;
  const kmp_hierbar_team_t *hier = team->t.t_hierbar;
  if (hier == NULL || team->t.t_serialized || hier->nproc != team->t.t_nproc ||
      (uint32_t)hier->nproc > capacity)
    return NULL;
  return team;
}

static uint64_t shape(uint32_t *parents, uint32_t capacity) {
  const kmp_team_t *team = planned_team(capacity);
  if (team == NULL)
    return 0;
  const kmp_hierbar_team_t *hier = team->t.t_hierbar;
  for (int tid = 0; tid < hier->nproc; ++tid)
    parents[tid] = hier->engine.node(tid).parent;
  return hier->serial;
}

static uint32_t units(uint8_t *units, uint32_t capacity) {
  kmp_team_t *team = planned_team(capacity);
  return team == NULL ? (uint32_t)HIERBAR_UNIT_UNKNOWN : __kmp_hierbar_units(team, units);
}

static const char *placement() {
  return __kmp_hierbar_placement[0] == '\0' ? NULL : __kmp_hierbar_placement;
}

static const char *library_version() { return __kmp_hierbar_library.version(); }

static const hierbar_trace_interface *find(uint32_t version) {
  static const hierbar_trace_interface trace = {
      HIERBAR_TRACE_VERSION, enable, observe, next_phases, shape, units, placement,
      library_version};
  return version == HIERBAR_TRACE_VERSION ? &trace : NULL;
}

void (*__kmp_hierbar_tool_lookup(const char *name))(void) {
  // Without KMP_BARRIER=hier there is nothing to tell.
  if (strcmp(name, HIERBAR_TRACE_ENTRY) != 0 || !__kmp_hierbar_enabled)
    return NULL;
  return (void (*)(void))find;
}
