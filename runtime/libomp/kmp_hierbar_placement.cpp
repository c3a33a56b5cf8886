// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which cpus libomp takes for the machine, and how this process's threads are bound.
//
// HIERBAR_PLACE: which cpus libomp takes for the machine. Called once, before libomp looks at the
// topology, under its initialisation lock. Whoever declines leaves the cpus as they are; a cpu
// quota can still limit the default team.
//
// HIERBAR_PRIMARY=free: the thread that begins parallel regions is moved to its place where it is
// elsewhere, and never bound (docs/design/run.md#d0098). So what it starts, threads and processes,
// inherits all cpus, which `reset` of KMP_AFFINITY reaches by two system calls in each region.
//
// HIERBAR_BIND=share: threads are bound where the process has cpus of its own, and nowhere else.
// Every process numbers its places from the same first core. Processes that know nothing of each
// other, as those of `make -j`, would all bind themselves to it.

#include "libomp/kmp_hierbar_placement.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/trusted_variable.hpp"
#include "kmp_affinity.h"
#include "libomp/kmp_hierbar_library.h"
#include "libomp/kmp_hierbar_settings.h"

char __kmp_hierbar_placement[512];

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

bool __kmp_hierbar_primary_is_free = false;

// ---- how threads are bound ----

static bool binds_only_in_share = false;

// Where libomp itself moves the primary from place to place (OMP_PROC_BIND, `balanced`) it has to
// stay bound.
void __kmp_hierbar_read_primary() {
  const bool stays_at_one_place = __kmp_nested_proc_bind.bind_types != NULL &&
                                  __kmp_nested_proc_bind.bind_types[0] == proc_bind_intel &&
                                  __kmp_affinity.type != affinity_balanced;
  const bool is_free_wanted = has_word("HIERBAR_PRIMARY", "bound", "free");
  __kmp_hierbar_primary_is_free =
      is_free_wanted && KMP_AFFINITY_CAPABLE() && __kmp_affinity.flags.reset && stays_at_one_place;
  binds_only_in_share = has_word("HIERBAR_BIND", "always", "share");
}

// As if KMP_AFFINITY were not set. Before the first place is made and the first thread bound.
static void forgo_binding(kmp_affinity_t &affinity) {
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

bool __kmp_hierbar_needs_no_topology(const kmp_affinity_t &affinity) {
  const bool binds = affinity.type != affinity_none || (__kmp_hh_affinity.type != affinity_none &&
                                                        __kmp_hh_affinity.type != affinity_default);
  return __kmp_hierbar_enabled && !binds && !affinity.flags.verbose && __kmp_hw_subset == NULL &&
         __kmp_nesting_mode == 0;
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
  const bool may_move =
      __kmp_get_system_affinity(before, FALSE) == 0 && is_within(thread->th.th_affin_mask, before);
  if (may_move && __kmp_set_system_affinity(thread->th.th_affin_mask, FALSE) == 0)
    __kmp_set_system_affinity(before, FALSE);
  KMP_CPU_FREE(before);
  return may_move;
}

// The cpu on which this thread was when it was found to be bound elsewhere; -1: it was not. While
// it stays there the kernel is not asked again, which each region would otherwise do.
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
  if (!__kmp_hierbar_enabled || number < num_places || KMP_UBER_GTID(gtid) ||
      thread->th.th_root == NULL)
    return number;
  const kmp_info_t *primary = thread->th.th_root->r.r_uber_thread;
  return __kmp_adjust_gtid_for_hidden_helpers(primary->th.th_info.ds.ds_gtid) +
         thread->th.th_info.ds.ds_tid;
}

// ---- which cpus libomp takes for the machine ----

// What the process was given, for as many cpus as Linux has. The program may have bound itself by
// the time of its first region, which is then its own business.
static uint64_t first_mask[8192 / 64];
static kmp_uint32 first_mask_words = 0;

__attribute__((constructor)) static void read_first_mask() {
  const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(first_mask), first_mask);
  if (bytes > 0)
    first_mask_words = (kmp_uint32)(bytes / sizeof(uint64_t));
}

// What forbids to take other cpus than those that the process was given; NULL: nothing here. The
// rest of the reasons are variables of the environment, which libhierbar.so reads.
static char const *find_objection(const kmp_affinity_t &affinity) {
  if (affinity.type == affinity_disabled)
    return "KMP_AFFINITY=disabled";
  if (affinity.type == affinity_explicit)
    return "OMP_PLACES, KMP_AFFINITY or GOMP_CPU_AFFINITY lists cpus";
  if (!affinity.flags.respect)
    return "KMP_AFFINITY=norespect takes all cpus of the machine";
  if (__kmp_hw_subset != NULL)
    return "KMP_HW_SUBSET selects from the machine";
  return NULL;
}

// The largest team that was asked for by number so far, by OMP_NUM_THREADS, omp_set_num_threads()
// or the clause of the region that is about to begin; 0: none was. Teams inside teams count, when
// OMP_NUM_THREADS gives their sizes.
static kmp_uint32 read_num_threads() {
  int num_threads = __kmp_dflt_team_nth;
  for (int level = 1; num_threads != 0 && level < __kmp_nested_nth.used; ++level)
    num_threads *= KMP_MAX(__kmp_nested_nth.nth[level], 1);
  const int gtid = __kmp_get_gtid();
  if (gtid >= 0) {
    const kmp_info_t *thread = __kmp_threads[gtid];
    num_threads = KMP_MAX(num_threads, thread->th.th_current_task->td_icvs.nproc);
    num_threads = KMP_MAX(num_threads, thread->th.th_set_nproc);
  }
  return KMP_MAX(num_threads, 0);
}

static kmp_uint32 count_cpus(const uint64_t *bits, kmp_uint32 num_words) {
  kmp_uint32 count = 0;
  for (kmp_uint32 i = 0; i < num_words; ++i)
    count += __builtin_popcountll(bits[i]);
  return count;
}

// Of teams of which nobody said how large they are. libomp makes that of __kmp_avail_proc, which is
// going to be the share.
static void set_default_team_size(int size) {
  if (__kmp_dflt_team_nth == 0)
    __kmp_dflt_team_nth = size;
  for (int level = 0; level < __kmp_nested_nth.used && __kmp_nested_nth.nth[level] == 0; ++level)
    __kmp_nested_nth.nth[level] = size;
}

// Kept for a tool.
static void keep_verdict(void *context, const char *line) {
  snprintf(__kmp_hierbar_placement, sizeof(__kmp_hierbar_placement), "%s", line);
  if (__kmp_hierbar_verbose)
    __kmp_hierbar_note(context, line);
}

void __kmp_hierbar_place(kmp_affinity_t &affinity) {
  if (!__kmp_hierbar_enabled)
    return;
  const kmp_uint32 num_words =
      (kmp_uint32)((__kmp_affin_mask_size + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  uint64_t *inherited = (uint64_t *)KMP_INTERNAL_CALLOC(2 * (size_t)num_words, sizeof(uint64_t));
  if (inherited == NULL)
    return;
  uint64_t *share = inherited + num_words;
  int cpu;
  KMP_CPU_SET_ITERATE(cpu, __kmp_affin_fullMask) {
    if (KMP_CPU_ISSET(cpu, __kmp_affin_fullMask) && (kmp_uint32)cpu < num_words * 64)
      inherited[cpu / 64] |= uint64_t(1) << (cpu % 64);
  }
  hierbar_place_request request;
  memset(&request, 0, sizeof(request));
  request.mask.bits = inherited;
  request.mask.num_words = num_words;
  request.first_mask.bits = first_mask;
  request.first_mask.num_words = first_mask_words;
  request.num_threads = read_num_threads();
  request.objection = find_objection(affinity);
  kmp_uint32 team_size = 0;
  const int answer = __kmp_hierbar_library.place(&request, keep_verdict, __kmp_hierbar_warn, NULL,
                                                 share, num_words, &team_size);
  if (answer == HIERBAR_PLACE_STAYS)
    forgo_binding(affinity);
  if (answer == HIERBAR_PLACE_SHARE) {
    // Thread counts are the user's business: without threads=share they stay what the inherited
    // mask gives.
    set_default_team_size(team_size != 0 ? team_size : count_cpus(inherited, num_words));
    KMP_CPU_ZERO(__kmp_affin_fullMask);
    for (kmp_uint32 i = 0; i < num_words * 64; ++i) {
      if (share[i / 64] >> (i % 64) & 1)
        KMP_CPU_SET(i, __kmp_affin_fullMask);
    }
  } else if (team_size != 0) {
    set_default_team_size(team_size); // a cpu quota leaves no time for more
  }
  KMP_INTERNAL_FREE(inherited);
}

#else

void __kmp_hierbar_read_primary() {
  has_word("HIERBAR_PRIMARY", "bound", "free");
  has_word("HIERBAR_BIND", "always", "share");
}

#endif // KMP_AFFINITY_SUPPORTED
