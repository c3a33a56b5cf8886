// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Plans and memory of a team. Everything here runs in the primary just before it releases the
// workers, which are parked on their own b_go words and touch nothing of the team, or when a team
// structure that nobody uses is freed.

#include "libomp/barrier/kmp_hierbar_plan.h"

#include <new>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kmp_affinity.h"
#include "kmp_itt.h"
#include "libomp/barrier/kmp_hierbar_report.h"
#include "libomp/barrier/kmp_hierbar_team.h"
#include "libomp/kmp_hierbar_compat.h"
#include "libomp/kmp_hierbar_library.h"
#include "libomp/kmp_hierbar_process.h"
#include "libomp/kmp_hierbar_settings.h"
#include "libomp/region/kmp_hierbar_region_record.h"

#include "barrier/barrier_memory.hpp"
#include "barrier/pass_on.hpp"
#include "base/arch/memory.hpp"
#include "base/levels.h"

// Zero pages, touched by nobody: the first thread to write a page puts it on its own NUMA node.
static void *map_zero_pages(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    KMP_FATAL(MemoryAllocFailed);
  return memory;
}

// Zero memory that is less than a page, so that whose node it is on does not matter.
static void *allocate_zero_lines(size_t bytes, size_t alignment) {
  void *memory = NULL;
  if (posix_memalign(&memory, alignment, bytes) != 0)
    KMP_FATAL(MemoryAllocFailed);
  memset(memory, 0, bytes);
  return memory;
}

// The place that each thread of the team gets in the coming region; negative when it is not bound.
static int *read_places(kmp_team_t *team) {
  const int nproc = team->t.t_nproc;
  int *places = (int *)KMP_INTERNAL_MALLOC(sizeof(int) * nproc);
  if (places == NULL)
    KMP_FATAL(MemoryAllocFailed);
  for (int tid = 0; tid < nproc; ++tid) {
#if KMP_AFFINITY_SUPPORTED
    places[tid] = team->t.t_threads[tid]->th.th_new_place;
#else
    places[tid] = -1;
#endif
  }
  return places;
}

#if KMP_AFFINITY_SUPPORTED
// Fills `bits` with the cpus of a place. Returns the number of words, 0 when the place names no
// cpus.
static kmp_uint32 cpus_of_place(int place, uint64_t *bits, kmp_uint32 num_words) {
  if (!KMP_AFFINITY_CAPABLE() || place < 0 || (unsigned)place >= __kmp_affinity.num_masks ||
      __kmp_affinity.masks == NULL)
    return 0;
  memset(bits, 0, num_words * sizeof(*bits));
  kmp_affin_mask_t *mask = KMP_CPU_INDEX(__kmp_affinity.masks, place);
  int cpu;
  KMP_CPU_SET_ITERATE(cpu, mask) {
    if (KMP_CPU_ISSET(cpu, mask) && (kmp_uint32)cpu < num_words * 64)
      bits[cpu / 64] |= uint64_t(1) << (cpu % 64);
  }
  return num_words;
}
#endif

// The cpus of each thread; none where the machine's cannot be told. To be freed.
static hierbar_cpus *cpus_of_places(int nproc, const int *places) {
  hierbar_cpus *cpus = NULL;
#if KMP_AFFINITY_SUPPORTED
  const kmp_uint32 num_words =
      (kmp_uint32)((__kmp_affin_mask_size + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  cpus = (hierbar_cpus *)KMP_INTERNAL_MALLOC((sizeof(hierbar_cpus) + sizeof(uint64_t) * num_words) *
                                             nproc);
  if (cpus == NULL)
    KMP_FATAL(MemoryAllocFailed);
  uint64_t *bits = (uint64_t *)(cpus + nproc);
  for (int tid = 0; tid < nproc; ++tid) {
    uint64_t *own = bits + (size_t)num_words * tid;
    cpus[tid].num_words = cpus_of_place(places[tid], own, num_words);
    cpus[tid].bits = own;
  }
#endif
  return cpus;
}

static const hierbar_plan *create_plan(int nproc, const int *places) {
  const hierbar_plan *plan = NULL;
  hierbar_cpus *cpus = cpus_of_places(nproc, places);
  if (__kmp_hierbar_library.plan_create(nproc, cpus, __kmp_hierbar_warn, NULL, &plan) != 0)
    KMP_FATAL(MemoryAllocFailed);
  KMP_INTERNAL_FREE(cpus);
  return plan;
}

uint32_t __kmp_hierbar_units(kmp_team_t *team, uint8_t *units) {
  const kmp_hierbar_team_t *hier = team->t.t_hierbar;
  int *places = read_places(team); // plans of small teams have been made without
  hierbar_cpus *cpus = cpus_of_places(team->t.t_nproc, places);
  uint8_t exchange = HIERBAR_UNIT_UNKNOWN;
  __kmp_hierbar_library.plan_units(hier->instances[hier->current].plan, cpus, units, &exchange);
  KMP_INTERNAL_FREE(cpus);
  KMP_INTERNAL_FREE(places);
  return exchange;
}

static void clear_instance(kmp_hierbar_instance_t *instance) {
  if (instance->plan == NULL)
    return;
  if (instance->flat != NULL) {
    KMP_INTERNAL_FREE(instance->flat);
    KMP_INTERNAL_FREE(instance->lines);
  } else {
    __kmp_hierbar_library.plan_destroy(instance->plan);
    KMP_INTERNAL_FREE(instance->places);
    munmap(instance->lines, instance->lines_bytes);
  }
  memset(instance, 0, sizeof(*instance));
}

// Takes ownership of `places`.
static void fill_instance(kmp_hierbar_instance_t *instance, int nproc, int *places) {
  static std::atomic<kmp_uint64> last_serial(0);
  const kmp_uint64 start = __kmp_now_nsec();
  kmp_hierbar_uncancelled_t uncancelled; // the machine is read from files
  instance->serial =
      last_serial.fetch_add(1, std::memory_order_relaxed) + 1; // relaxed: only to be unique
  if (places == NULL) {
    void *memory = allocate_zero_lines(sizeof(hierbar::FlatPlan), alignof(kmp_hierbar_team_t));
    instance->flat = new (memory) hierbar::FlatPlan(nproc, hierbar::own_line_distance());
    instance->plan = &instance->flat->plan();
  } else {
    kmp_hierbar_opening_t opening; // hwloc has plugins
    instance->plan = create_plan(nproc, places);
  }
  instance->nproc = nproc;
  instance->places = places;
  instance->lines_bytes =
      hierbar::BarrierMemory<std::atomic<kmp_uint64>>::size_bytes(*instance->plan);
  instance->lines = places == NULL
                        ? allocate_zero_lines(instance->lines_bytes, instance->plan->line_bytes)
                        : map_zero_pages(instance->lines_bytes);
  if (__kmp_hierbar_verbose)
    __kmp_hierbar_describe_once(instance->plan, __kmp_now_nsec() - start);
}

static bool fits(const kmp_hierbar_instance_t *instance, int nproc, const int *places) {
  if (instance->nproc != nproc) // 0: unused
    return false;
  return places == NULL || memcmp(instance->places, places, sizeof(int) * nproc) == 0;
}

// What __kmp_barrier_template does between gather and release, beyond the tasks, must not be
// needed. Nothing of this changes once libomp is initialised.
static bool exchange_is_enough() {
#if USE_ITT_BUILD
  if (__itt_sync_create_ptr != NULL || KMP_ITT_DEBUG)
    return false;
#if USE_ITT_NOTIFY
  if (__itt_frame_submit_v3_ptr != NULL && __kmp_forkjoin_frames_mode)
    return false;
#endif
#endif
  return __kmp_tasking_mode == tskm_task_teams && !__kmp_omp_cancellation &&
         !__kmp_env_consistency_check;
}

// The kept instance that fits the team as it is now; else the one to be given up for it, which is
// unused or was last used longest ago.
static int find_instance(const kmp_hierbar_team_t *hier, int nproc, const int *places) {
  int oldest = 0;
  for (int i = 0; i < KMP_HIERBAR_MAX_INSTANCES; ++i) {
    if (fits(&hier->instances[i], nproc, places))
      return i;
    if (hier->instances[i].used < hier->instances[oldest].used)
      oldest = i;
  }
  return oldest;
}

// Each fence of a sleeper takes it some µs and interrupts all who run. So not where sleeps are the
// rule: where threads outnumber their cpus, and where the user asked not to spin.
static hierbar::Fencing fencing(int nproc) {
  const int num_cpus = __kmp_avail_proc ? __kmp_avail_proc : __kmp_xproc;
  const bool sleeps_are_rare = nproc <= num_cpus && __kmp_dflt_blocktime != 0;
  return __kmp_hierbar_sleepers_fence && sleeps_are_rare ? hierbar::Fencing::kBySleepers
                                                         : hierbar::Fencing::kByWriters;
}

// Makes the instance for the team as it is now the current one.
static void choose_instance(kmp_hierbar_team_t *hier, kmp_team_t *team) {
  const int nproc = team->t.t_nproc;
  int *places = nproc <= (int)hierbar::kMaxMachineIndependent ? NULL : read_places(team);
  hier->current = find_instance(hier, nproc, places);
  kmp_hierbar_instance_t *instance = &hier->instances[hier->current];
  if (fits(instance, nproc, places)) {
    KMP_INTERNAL_FREE(places);
  } else {
    clear_instance(instance);
    fill_instance(instance, nproc, places);
  }
  instance->used = ++hier->num_choices;
  new (&hier->engine) kmp_hierbar_engine_t(*instance->plan, instance->lines, fencing(nproc));
  hier->nproc = nproc;
  hier->serial = instance->serial;
  hier->exchange_allowed = exchange_is_enough();
}

static bool threads_may_have_moved(kmp_hierbar_team_t *hier, kmp_team_t *team) {
  kmp_hierbar_signature_t now;
  memset(&now, 0, sizeof(now));
#if KMP_AFFINITY_SUPPORTED
  now.first_place = team->t.t_first_place;
  now.last_place = team->t.t_last_place;
#endif
  now.proc_bind = team->t.t_proc_bind;
  now.first_thread = team->t.t_threads[0];
  now.last_thread = team->t.t_threads[team->t.t_nproc - 1];
  const bool moved =
      team->t.t_size_changed != 0 || memcmp(&now, &hier->signature, sizeof(now)) != 0;
  if (moved)
    hier->signature = now;
  return moved;
}

// Who outnumber their cpus do not pass a release on (barrier/pass_on.hpp). The primary decides, so
// that all do the same: libomp's own count of threads may change while they look at it.
static kmp_uint32 release_width(const kmp_hierbar_team_t *hier) {
  return KMP_OVERSUBSCRIBED || hier->engine.is_oversubscribed() ? hierbar::kReleaseAtOnce
                                                                : hierbar::kReleaseWidth;
}

// A parallel region inside a teams construct may take fewer threads than its team has. The others
// stay parked, with the task team of the last barrier that they took part in, while the team goes
// on to the other one; libomp sets only their th_task_state right when the region ends. A later
// region then uses the task team that they still name: such a thread, not yet released, finds tasks
// there and counts itself as finished before it takes part, and a barrier ends one thread too
// early, or never. libomp's own patterns do the same (19.1.7 to 23.1.1), but seldom are that late
// in releasing a thread. As where a team shrinks for good, the parked must let go of it.
static void unref_task_team_of_idle(kmp_team_t *team) {
  const kmp_info_t *primary = team->t.t_threads[0];
  if (primary->th.th_teams_microtask == NULL || team->t.t_level != primary->th.th_teams_level + 1)
    return;
  for (int f = team->t.t_nproc; f < primary->th.th_teams_size.nth; ++f)
    TCW_PTR(team->t.t_threads[f]->th.th_task_team, NULL);
}

void __kmp_hierbar_prepare(kmp_team_t *team) {
  if (!__kmp_hierbar_enabled)
    return;
  kmp_hierbar_team_t *hier = team->t.t_hierbar;
  if (hier == NULL) {
    hier = (kmp_hierbar_team_t *)allocate_zero_lines(sizeof(kmp_hierbar_team_t),
                                                     alignof(kmp_hierbar_team_t));
    __kmp_hierbar_register(hier);
    team->t.t_hierbar = hier;
  }
  const int nproc = team->t.t_nproc;
  if (hier->nproc != nproc ||
      (nproc > (int)hierbar::kMaxMachineIndependent && threads_may_have_moved(hier, team)))
    choose_instance(hier, team);
  KMP_CHECK_UPDATE(hier->release_width, release_width(hier)); // a line that all read
  unref_task_team_of_idle(team);
  ++hier->counts.ordinary;
  __kmp_hierbar_record_region(team);
}

void __kmp_hierbar_free_team(kmp_team_t *team) {
  kmp_hierbar_team_t *hier = team->t.t_hierbar;
  if (hier == NULL)
    return;
  __kmp_hierbar_unregister(hier);
  for (kmp_hierbar_instance_t &instance : hier->instances)
    clear_instance(&instance);
  KMP_INTERNAL_FREE(hier);
  team->t.t_hierbar = NULL;
}
