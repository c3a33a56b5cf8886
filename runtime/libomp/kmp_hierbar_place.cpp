// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// HIERBAR_PLACE: which cpus libomp takes for the machine. Called once, before libomp looks at the
// topology, under its initialisation lock. Whoever declines leaves the cpus as they are; a cpu
// quota can still limit the default team.

#include "kmp_hierbar.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kmp_affinity.h"
#include "kmp_hierbar_team.h"
#include "kmp_hierbar_trace.h"

char __kmp_hierbar_placement[512];

#if KMP_AFFINITY_SUPPORTED

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
  const kmp_uint32 num_words = (kmp_uint32)((__kmp_affin_mask_size + sizeof(uint64_t) - 1) / sizeof(uint64_t));
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
  const int answer = __kmp_hierbar_library.place(&request, keep_verdict, __kmp_hierbar_warn, NULL, share, num_words, &team_size);
  if (answer == HIERBAR_PLACE_STAYS)
    __kmp_hierbar_forgo_binding(affinity);
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

#endif // KMP_AFFINITY_SUPPORTED
