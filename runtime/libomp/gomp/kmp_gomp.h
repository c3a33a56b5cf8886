// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_H
#define KMP_GOMP_H

// What libomp lacks for programs that GCC compiled; GOMP.md lists every entry point. LLVM's
// kmp_gsupport.cpp has the older ones. The patch calls
//
//   kmp_gsupport.cpp   __kmp_gomp_*                  clauses that came with later versions of GCC,
//                                                    target regions, taskloops, task reductions,
//                                                    leagues
//   kmp_tasking.cpp    __kmp_gomp_must_run           which tasks a cancelled taskgroup or region
//                                                    must not discard
//   kmp_cancel.cpp     __kmp_gomp_cancels            leaving cancelled loops; requests for a region
//                      __kmp_gomp_request_cancel     and a loop in it that meet
//   kmp_dispatch.cpp   __kmp_gomp_wait_for_buffer    more loops in a cancelled region than libomp
//                                                    has buffers
//   kmp_alloc.cpp      kmp_gomp_pool_loan_t          omp_realloc within a pool
//   kmp_runtime.cpp    __kmp_gomp_find_league        the teams of a target region
//                      __kmp_gomp_forget_cancellation  constructs of a cancelled region
//                      __kmp_gomp_forget_release     barriers of a thread that leaves its team
//                      __kmp_gomp_base_*             levels inside a target region
//                      __kmp_gomp_report_*           differences that a program is told of
//   kmp_ftn_entry.h    __kmp_gomp_base_*
//
// and adds GCC's newer version names to exports_so.txt.

#include "kmp.h"

// Bits of the flags of GOMP_task and of GOMP_target_ext and its like.
enum {
  KMP_GOMP_TASK_DEPEND = 1 << 3,
  KMP_GOMP_TASK_PRIORITY = 1 << 4,
  KMP_GOMP_TASK_DETACH = 1 << 13,
  KMP_GOMP_TASK_TARGET = 1 << 30 // ours: the task of a target construct
};
enum { KMP_GOMP_TARGET_NOWAIT = 1 << 0 };

// ---- tasks ----

// The flags of a new task that its construct, priority and detach clauses ask for.
static inline void __kmp_gomp_set_task_flags(unsigned gomp_flags, kmp_tasking_flags_t *flags) {
  flags->priority_specified = (gomp_flags & KMP_GOMP_TASK_PRIORITY) != 0;
  flags->target = (gomp_flags & KMP_GOMP_TASK_TARGET) != 0; // tells a tool
  flags->detachable = (gomp_flags & KMP_GOMP_TASK_DETACH) != 0 ? TASK_DETACHABLE : TASK_UNDETACHABLE;
}

// Before the task's data is copied from `data`: gives the task its priority, and its event to where
// the program looks for it.
void __kmp_gomp_set_task_clauses(ident_t *loc, int gtid, kmp_task_t *task, unsigned gomp_flags, int priority, void *detach,
                                 void *data);

int __kmp_taskloop_task(int gtid, void *task); // kmp_tasking.cpp's: makes a part of the tasks of a taskloop

// These run even if they are cancelled: a task whose data the program's own function has copied,
// since it destroys them, and one that makes others, since its taskgroup counts their pattern.
static inline bool __kmp_gomp_must_run(const kmp_taskdata_t *task) {
  return (task->td_flags.native && task->td_copy_func) || ((const kmp_task_t *)(task + 1))->routine == &__kmp_taskloop_task;
}

// GOMP_task with if(0) and detach: the task has ended when this returns.
void __kmp_gomp_wait_for_detachable(void (*func)(void *), void *data, void (*copy_func)(void *, void *), long arg_size,
                                    long arg_align, unsigned gomp_flags, void **depend, int priority, void *detach);

// GOMP_taskloop and GOMP_taskloop_ull.
void __kmp_gomp_taskloop(void (*func)(void *), void *data, void (*copy_func)(void *, void *), long arg_size, long arg_align,
                         unsigned flags, unsigned long num_tasks, int priority, long start, long end, long step);
void __kmp_gomp_taskloop(void (*func)(void *), void *data, void (*copy_func)(void *, void *), long arg_size, long arg_align,
                         unsigned flags, unsigned long num_tasks, int priority, unsigned long long start, unsigned long long end,
                         unsigned long long step);

// ---- task reductions; `data` is a table of the program's ----

enum { KMP_GOMP_TABLE_IS_WORKSHARE = 5 }; // a word of the first table: the taskgroup is that of a worksharing construct

void __kmp_gomp_register_reductions(uintptr_t *data, int num_threads);
void __kmp_gomp_unregister_reductions(uintptr_t *data);
void __kmp_gomp_remap_reductions(size_t count, size_t num_originals, void **ptrs);

// Called by all threads of a team, at the begin and end of a worksharing construct or a scope; each
// starts and ends a taskgroup.
void __kmp_gomp_start_workshare_reductions(int gtid, uintptr_t *data);
void __kmp_gomp_end_workshare_reductions(int gtid);

// ---- cancellation ----

// The calling thread requests to cancel a region (cancel_parallel), or the loop or sections that it
// is in, and leaves these. `old` is what was pending in the team before it put its own request
// there if there was none. A region's request and that of a loop in it may meet; the region's wins,
// since whoever leaves the loop then gets to know of it at the loop's end.
void __kmp_gomp_request_cancel(int gtid, kmp_int32 old, kmp_int32 kind);

// Whether a pending request cancels what contains a cancellation point of this kind. Then the
// thread leaves the loop or sections that it is in.
bool __kmp_gomp_cancels(int gtid, kmp_int32 pending, kmp_int32 kind);

// The taskgroup whose cancellation counts for tasks of this one: that of a worksharing construct
// with task reductions only holds these, and the program knows nothing of it.
static inline kmp_taskgroup_t *__kmp_gomp_cancellable(kmp_taskgroup_t *taskgroup) {
  while (taskgroup && taskgroup->parent && taskgroup->gomp_data && taskgroup->gomp_data[KMP_GOMP_TABLE_IS_WORKSHARE])
    taskgroup = taskgroup->parent;
  return taskgroup;
}

// Waits until the buffer of an earlier loop or sections can serve this construct, the thread's
// `construct`-th one (from 0) in the region. A thread that has left the cancelled region will never
// say that it is through with the earlier one; it is not waited for.
void __kmp_gomp_wait_for_buffer(kmp_info_t *thread, volatile kmp_uint32 *buffer_index, kmp_uint32 construct);

// Before a region of a team whose last one ended with a pending request: takes back what constructs
// that some threads did not come to, or did not finish, have left in the team.
void __kmp_gomp_forget_cancellation(int gtid, kmp_team_t *team);

// Before a thread leaves its team. It may have left a cancelled barrier before it was released
// there, and must not take that release for one of its next team.
static inline void __kmp_gomp_forget_release(kmp_info_t *thread) {
  TCW_4(thread->th.th_bar[bs_plain_barrier].bb.b_go, KMP_INIT_BARRIER_STATE);
}

// ---- leagues ----

// GOMP_teams_reg; 0: not asked for.
void __kmp_gomp_run_league(void (*fn)(void *), void *data, unsigned num_teams, unsigned thread_limit);

// ---- worksharing constructs ----

// kmp_sch_static and kmp_ord_static are for blocks, whatever the chunk size.
static inline enum sched_type __kmp_gomp_schedule(enum sched_type schedule, kmp_int64 chunk_size) {
  if (chunk_size > 0 && schedule == kmp_sch_static)
    return kmp_sch_static_chunked;
  if (chunk_size > 0 && schedule == kmp_ord_static)
    return kmp_ord_static_chunked;
  return schedule;
}

// A loop over unsigned long long, for libomp's dispatch: the last value inclusively, and a signed
// step.
struct kmp_gomp_range_t {
  unsigned long long last;
  long long step;
  bool is_one_chunk; // it goes from the loop's begin to its end
};

// GCC passes a step downwards as its two's complement. A step of 2^63 or more is not representable,
// and makes one iteration: a second one would make the variable wrap around.
static inline kmp_gomp_range_t __kmp_gomp_range(bool up, unsigned long long begin, unsigned long long end,
                                                unsigned long long step) {
  if (up ? (long long)step > 0 : (long long)step < 0)
    return {up ? end - 1 : end + 1, (long long)step, false};
  return {begin, up ? 1 : -1, true};
}

// *mem is a size, and becomes the address of that much memory of the team's for the construct, at
// first 0. If not all threads of the team ask for it before the region ends, abandon(*mem) is called
// then.
void __kmp_gomp_share_memory(int gtid, void **mem, void (*abandon)(void *) = NULL);

// Frees the memory of constructs that not all threads of the team have come to. No thread is in any.
void __kmp_gomp_forget_memory(kmp_team_t *team);

// ---- target regions, which run on the host ----

void __kmp_gomp_target(int device, void (*fn)(void *), void **hostaddrs);

// Runs fn(data) as a target region does: outside of all regions around, with the variables that the
// program began with.
void __kmp_gomp_run_as_initial_thread(void (*fn)(void *), void *data, unsigned thread_limit);
kmp_internal_control_t __kmp_get_global_icvs(void); // kmp_runtime.cpp's

// What such a region counts levels from. It is in the stack of the thread that runs it.
//
// Where a thread is, it finds by the teams outwards from its own: a target region and a league are
// known by the team of one in which they were begun (t_gomp_base, t_gomp_league). Its only thread
// writes these fields, and not while it is in a team inside. So whoever is in that team finds what
// was there at its fork, and it stays there until its join. What the thread begins in the meantime
// is in other teams. A list that is kept by thread would have that too, and change while it is read.
typedef struct kmp_gomp_base {
  int level, active_level;
} kmp_gomp_base_t;

// The innermost target region around the calling thread, NULL if there is none.
const kmp_gomp_base_t *__kmp_gomp_find_base();

static inline int __kmp_gomp_base_level() {
  const kmp_gomp_base_t *base = __kmp_gomp_find_base();
  return base ? base->level : 0;
}

static inline int __kmp_gomp_base_active_level() {
  const kmp_gomp_base_t *base = __kmp_gomp_find_base();
  return base ? base->active_level : 0;
}

// The level by libomp's count for one that the program counts; those that do not exist stay so.
static inline int __kmp_gomp_real_level(int level) { return level < 0 ? level : level + __kmp_gomp_base_level(); }

// The upper bound of the threads of regions in the current task; 0: none is asked for.
void __kmp_gomp_limit_threads(unsigned thread_limit);

typedef kmp_base_team_t::kmp_gomp_league kmp_gomp_league_t;

// The league in which the calling thread is, NULL if there is none.
const kmp_gomp_league_t *__kmp_gomp_find_league();

// ---- programs that GCC compiled ----

// Whether this library was loaded under the name that they ask for.
bool __kmp_gomp_is_loaded_for_gcc();

// ---- memory ----

// The predefined allocators for constant, low-latency and threads' memory have no memory of their
// own here, and the default one serves, as with GCC's library. Other programs are warned of that, as
// by libomp, which then had no memory for them.
bool __kmp_gomp_stand_in(const char *allocator); // always true

// Whether OMP_ALLOCATOR sets such an allocator, which omp_get_default_allocator() then returns. libomp
// takes the default one.
bool __kmp_gomp_keep_allocator(omp_allocator_handle_t allocator);

// omp_realloc() of a block that came from a pool, of programs that GCC compiled. GCC's library asks the pool for the difference
// of both sizes only, where libomp asks for room for both blocks. So the old block does not count from the loan's begin to its
// end, while the new one is allocated, be it from the pool itself or because another allocator falls back to it. If another
// thread is given that room meanwhile, the pool holds so many bytes more than its size until blocks are freed.
class kmp_gomp_pool_loan_t {
public:
  // `block` is the old block's descriptor, or NULL. What a device's library allocates has no
  // descriptor.
  template <class Descriptor> explicit kmp_gomp_pool_loan_t(const Descriptor *block) {
    if (!block || !__kmp_gomp_is_loaded_for_gcc())
      return;
    kmp_allocator_t *const pool = block->allocator;
    if ((omp_allocator_handle_t)pool <= kmp_max_mem_alloc || pool->pool_size == 0)
      return;
    used_ = &pool->pool_used;
    size_ = block->size_a;
    KMP_TEST_THEN_ADD64((kmp_int64 *)used_, -(kmp_int64)size_);
  }

  void end() {
    if (used_)
      KMP_TEST_THEN_ADD64((kmp_int64 *)used_, (kmp_int64)size_);
  }

private:
  kmp_uint64 *used_ = NULL;
  size_t size_ = 0;
};

// ---- what is told of differences, and of settings ----

// Says once which variables of GCC's library are set and do nothing.
void __kmp_gomp_report_variables();

// Says once, in a program that GCC compiled, that threads outlive a hard pause of resources.
void __kmp_gomp_report_hard_pause();

// Says once that regions nested in a region are not limited together.
void __kmp_gomp_report_limit(kmp_info_t *thread, unsigned num_threads);

// Called by a thread that is about to fork a region; num_threads is its clause, or 0.
static inline void __kmp_gomp_check_limit(kmp_info_t *thread, unsigned num_threads) {
  if (UNLIKELY(thread->th.th_current_task->td_icvs.task_thread_limit > 0))
    __kmp_gomp_report_limit(thread, num_threads);
}

// ---- entry points that others here call ----

extern "C" {
void KMP_EXPAND_NAME(GOMP_task)(void (*func)(void *), void *data, void (*copy_func)(void *, void *), long arg_size,
                                long arg_align, bool if_cond, unsigned gomp_flags, void **depend, int priority, void *detach);
void KMP_EXPAND_NAME(GOMP_taskgroup_start)(void);
void KMP_EXPAND_NAME(GOMP_taskgroup_end)(void);
void KMP_EXPAND_NAME(GOMP_taskgroup_reduction_register)(uintptr_t *data);
void KMP_EXPAND_NAME(GOMP_taskwait_depend)(void **depend);
void KMP_EXPAND_NAME(GOMP_taskwait_depend_nowait)(void **depend);
bool KMP_EXPAND_NAME(GOMP_loop_start)(long start, long end, long incr, long sched, long chunk_size, long *istart, long *iend,
                                      uintptr_t *reductions, void **mem);
int KMP_EXPAND_NAME(omp_get_initial_device)(void);
}

// Exports __kmp_gomp_<name> as <name>, for programs that were linked with that version of GCC's,
// and no others.
#define KMP_GOMP_EXPORT(name, version) KMP_GOMP_EXPORT_AS(name, name, version)
#ifdef KMP_USE_VERSION_SYMBOLS
#define KMP_GOMP_EXPORT_AS(function, name, version) __asm__(".symver __kmp_gomp_" #function "," #name "@" version)
#else
#define KMP_GOMP_EXPORT_AS(function, name, version)
#endif

#endif // KMP_GOMP_H
