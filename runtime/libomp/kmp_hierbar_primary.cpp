// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How this process's threads are bound, where that is not LLVM's own business.
//
// HIERBAR_PRIMARY=free: the thread that begins parallel regions is moved to its place where it is
// elsewhere, and never bound (docs/design/run.md#d0098). So what it starts, threads and processes,
// inherits all cpus, which `reset` of KMP_AFFINITY reaches by two system calls in each region.
//
// HIERBAR_BIND=share: threads are bound where the process has cpus of its own, and nowhere else.
// Every process numbers its places from the same first core. Processes that know nothing of each
// other, as those of `make -j`, would all bind themselves to it.

#include "kmp_hierbar.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/trusted_variable.hpp"
#include "kmp_affinity.h"
#include "kmp_hierbar_team.h"

bool __kmp_hierbar_primary_is_free = false;

// Whether the variable has the word `chosen` and not `otherwise`, which holds where it is not set.
static bool has_word(char const *name, char const *otherwise, char const *chosen) {
  char const *value = hierbar::trusted_variable(name);
  if (value == NULL || *value == '\0' || strcmp(value, otherwise) == 0)
    return false;
  if (strcmp(value, chosen) == 0)
    return true;
  char allowed[64], instead[64];
  snprintf(allowed, sizeof(allowed), "%s, %s", otherwise, chosen);
  snprintf(instead, sizeof(instead), "using %s", otherwise);
  __kmp_hierbar_warn_bad_value(name, value, allowed, instead);
  return false;
}

#if KMP_AFFINITY_SUPPORTED

static bool binds_only_in_share = false;

// Where libomp itself moves the primary from place to place (OMP_PROC_BIND, `balanced`) it has to
// stay bound.
void __kmp_hierbar_read_primary() {
  const bool stays_at_one_place = __kmp_nested_proc_bind.bind_types != NULL &&
                                  __kmp_nested_proc_bind.bind_types[0] == proc_bind_intel &&
                                  __kmp_affinity.type != affinity_balanced;
  const bool is_free_wanted = has_word("HIERBAR_PRIMARY", "bound", "free");
  __kmp_hierbar_primary_is_free = is_free_wanted && KMP_AFFINITY_CAPABLE() && __kmp_affinity.flags.reset && stays_at_one_place;
  binds_only_in_share = has_word("HIERBAR_BIND", "always", "share");
}

// As if KMP_AFFINITY were not set. Before the first place is made and the first thread bound.
void __kmp_hierbar_forgo_binding(kmp_affinity_t &affinity) {
  if (!binds_only_in_share)
    return;
  affinity.type = affinity_none;
  affinity.flags.reset = FALSE;
  __kmp_hierbar_primary_is_free = false;
  __kmp_nested_proc_bind.bind_types[0] = proc_bind_false;
  for (int i = 0; i < __kmp_threads_capacity; ++i) // roots; there are no teams yet
    if (__kmp_threads[i] != NULL && __kmp_threads[i]->th.th_current_task != NULL)
      __kmp_threads[i]->th.th_current_task->td_icvs.proc_bind = proc_bind_false;
}

static bool is_within(const kmp_affin_mask_t *place, const kmp_affin_mask_t *mask) {
  int cpu;
  KMP_CPU_SET_ITERATE(cpu, place) {
    if (KMP_CPU_ISSET(cpu, place) && !KMP_CPU_ISSET(cpu, mask))
      return false;
  }
  return true;
}

// Binds the thread to its place, which moves it, and gives it back the cpus that it had. Returns
// false for a thread that the program has bound elsewhere, which stays there.
[[gnu::noinline]] static bool move(kmp_info_t *thread) {
  kmp_affin_mask_t *before;
  KMP_CPU_ALLOC(before);
  const bool may_move = __kmp_get_system_affinity(before, FALSE) == 0 && is_within(thread->th.th_affin_mask, before);
  if (may_move && __kmp_set_system_affinity(thread->th.th_affin_mask, FALSE) == 0)
    __kmp_set_system_affinity(before, FALSE);
  KMP_CPU_FREE(before);
  return may_move;
}

// The cpu on which this thread was when it was found to be bound elsewhere; -1: it was not. While it
// stays there the kernel is not asked again, which each region would otherwise do.
static __thread int bound_on_cpu [[gnu::tls_model("initial-exec")]] = -1;

void __kmp_hierbar_bring_primary(int gtid) {
  kmp_info_t *thread = __kmp_threads[gtid];
  kmp_root_t *root = thread->th.th_root;
  if (root->r.r_uber_thread != thread || thread->th.th_team->t.t_level != 0)
    return;
  if (!root->r.r_affinity_assigned) {
    __kmp_affinity_set_init_mask(gtid, /*isa_root=*/TRUE);
    root->r.r_affinity_assigned = TRUE;
  }
  const kmp_internal_control_t &icvs = thread->th.th_current_task->td_icvs;
  if ((thread->th.th_set_nproc != 0 ? thread->th.th_set_nproc : icvs.nproc) == 1)
    return;                       // nobody waits for a team of one
  const int cpu = sched_getcpu(); // no system call
  if (cpu >= 0 && cpu != bound_on_cpu && !KMP_CPU_ISSET(cpu, thread->th.th_affin_mask))
    bound_on_cpu = move(thread) ? -1 : cpu;
}

// LLVM counts all threads of the process. Where there are fewer places than that, a worker would
// come to the place of its own primary although others are free.
int __kmp_hierbar_place_number(int gtid, int number, int num_places) {
  const kmp_info_t *thread = __kmp_threads[gtid];
  if (!__kmp_hierbar_enabled || number < num_places || KMP_UBER_GTID(gtid) || thread->th.th_root == NULL)
    return number;
  const kmp_info_t *primary = thread->th.th_root->r.r_uber_thread;
  return __kmp_adjust_gtid_for_hidden_helpers(primary->th.th_info.ds.ds_gtid) + thread->th.th_info.ds.ds_tid;
}

#else

void __kmp_hierbar_read_primary() {
  has_word("HIERBAR_PRIMARY", "bound", "free");
  has_word("HIERBAR_BIND", "always", "share");
}

#endif // KMP_AFFINITY_SUPPORTED
