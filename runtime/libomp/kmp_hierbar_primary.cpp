// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// HIERBAR_PRIMARY=free: the thread that begins parallel regions is moved to its place where it is
// elsewhere, and never bound (docs/decisions/0098). So what it starts, threads and processes,
// inherits all cpus, which `reset` of KMP_AFFINITY reaches by two system calls in each region.

#include "kmp_hierbar.h"

#include <sched.h>
#include <string.h>

#include "base/trusted_variable.hpp"
#include "kmp_affinity.h"
#include "kmp_hierbar_team.h"

bool __kmp_hierbar_primary_is_free = false;

static bool is_free_wanted() {
  char const *value = hierbar::trusted_variable("HIERBAR_PRIMARY");
  if (value == NULL || *value == '\0' || strcmp(value, "bound") == 0)
    return false;
  if (strcmp(value, "free") == 0)
    return true;
  __kmp_hierbar_warn_bad_value("HIERBAR_PRIMARY", value, "bound, free", "using bound");
  return false;
}

#if KMP_AFFINITY_SUPPORTED

// Where libomp itself moves the primary from place to place (OMP_PROC_BIND, `balanced`) it has to
// stay bound.
void __kmp_hierbar_read_primary() {
  const bool stays_at_one_place = __kmp_nested_proc_bind.bind_types != NULL &&
                                  __kmp_nested_proc_bind.bind_types[0] == proc_bind_intel &&
                                  __kmp_affinity.type != affinity_balanced;
  __kmp_hierbar_primary_is_free = is_free_wanted() && KMP_AFFINITY_CAPABLE() && __kmp_affinity.flags.reset && stays_at_one_place;
}

static bool is_within(const kmp_affin_mask_t *place, const kmp_affin_mask_t *mask) {
  int cpu;
  KMP_CPU_SET_ITERATE(cpu, place) {
    if (KMP_CPU_ISSET(cpu, place) && !KMP_CPU_ISSET(cpu, mask))
      return false;
  }
  return true;
}

// Binds the thread to its place, which moves it, and gives it back the cpus that it had. A thread
// that the program has bound elsewhere stays there.
[[gnu::noinline]] static void move(kmp_info_t *thread) {
  kmp_affin_mask_t *before;
  KMP_CPU_ALLOC(before);
  if (__kmp_get_system_affinity(before, FALSE) == 0 && is_within(thread->th.th_affin_mask, before) &&
      __kmp_set_system_affinity(thread->th.th_affin_mask, FALSE) == 0)
    __kmp_set_system_affinity(before, FALSE);
  KMP_CPU_FREE(before);
}

void __kmp_hierbar_bring_primary(int gtid) {
  kmp_info_t *thread = __kmp_threads[gtid];
  kmp_root_t *root = thread->th.th_root;
  if (root->r.r_uber_thread != thread || thread->th.th_team->t.t_level != 0)
    return;
  if (!root->r.r_affinity_assigned) {
    __kmp_affinity_set_init_mask(gtid, /*isa_root=*/TRUE);
    root->r.r_affinity_assigned = TRUE;
  }
  const int cpu = sched_getcpu(); // no system call
  if (cpu >= 0 && !KMP_CPU_ISSET(cpu, thread->th.th_affin_mask))
    move(thread);
}

#else

void __kmp_hierbar_read_primary() { is_free_wanted(); }

#endif // KMP_AFFINITY_SUPPORTED
