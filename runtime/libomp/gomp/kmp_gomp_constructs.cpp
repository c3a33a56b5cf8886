// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The entry points that GCC 17 added so that tools see the program's constructs: barriers that say
// what they belong to, and the begins and ends of constructs that older GCCs open or divide without
// a call, or leave without one.
//
// What a program calls depends on GCC's option -fopenmp-ompt=<level>. Without it, and with the
// level `minimal`, a construct is one call, and a tool is told begin and end in one event. With
// `basic`, the construct's end is a call too. With `extended`, each chunk of a static loop is one.
// Dynamic loops and sections call what they always have.
//
// GCC's code calls the end of a loop and of `single` behind the barrier that belongs to them, also
// where that barrier was cancelled, and the end of `scope` in front of it. A thread that leaves the
// region from inside a construct calls no end, and no tool is told one.

#include "kmp.h"
#include "kmp_atomic.h"
#include "libomp/gomp/kmp_gomp_entry.h"
#include "libomp/gomp/kmp_gomp_ompt.h"
#include "libomp/kmp_hierbar_caller.h"

namespace {

// As GCC packs them, in the registers of a complex number: how many there are, and which one the
// caller is.
__extension__ typedef __complex__ int pair_t;

pair_t make_pair(int count, int number) {
  pair_t pair;
  __real__ pair = count;
  __imag__ pair = number;
  return pair;
}

// What omp_get_num_threads() and omp_get_thread_num() return.
pair_t place_in_team(const kmp_info_t *thread) {
  return make_pair(thread->th.th_team->t.t_nproc, thread->th.th_info.ds.ds_tid);
}

pair_t place_in_league() {
  return make_pair(KMP_EXPAND_NAME(omp_get_num_teams)(), KMP_EXPAND_NAME(omp_get_team_num)());
}

// Where libomp looks for the kind of a barrier. GCC numbers them: 0 is in a parallel construct,
// after copyin or before a reduction; 1 ends a worksharing construct; 2 is one that the program
// asks for. OMPT has no word for the first, which is then one of the implementation.
ident_t *location_of_barrier(unsigned kind) {
  static ident_t locations[] = {
      {0, KMP_IDENT_KMPC, 0, 0, ";unknown;unknown;0;0;;"},
      {0, KMP_IDENT_KMPC | KMP_IDENT_BARRIER_IMPL, 0, 0, ";unknown;unknown;0;0;;"},
      {0, KMP_IDENT_KMPC | KMP_IDENT_BARRIER_EXPL, 0, 0, ";unknown;unknown;0;0;;"}};
  return &locations[kind <= 2 ? kind : 0];
}

#if OMPT_SUPPORT && OMPT_OPTIONAL
// A tool is told events of the calling thread's task. `address` is the entry point's return
// address; a function may end with a jump to the entry point.
ompt_data_t *region() { return &__ompt_get_teaminfo(0, NULL)->parallel_data; }
ompt_data_t *task() { return &__ompt_get_task_info_object(0)->task_data; }
void *caller(void *address) { return __kmp_hierbar_caller(__kmp_get_gtid(), address); }

// At the end of a loop the count is not known.
void tell_work(ompt_work_t kind, ompt_scope_endpoint_t end, kmp_uint64 count, void *address) {
  if (ompt_enabled.ompt_callback_work)
    ompt_callbacks.ompt_callback(ompt_callback_work)(kind, end, region(), task(), count,
                                                     caller(address));
}

void tell_chunk(ompt_dispatch_t kind, kmp_uint64 start, kmp_uint64 iterations) {
  if (!ompt_enabled.ompt_callback_dispatch)
    return;
  ompt_dispatch_chunk_t chunk = {start, iterations};
  ompt_data_t instance;
  instance.ptr = &chunk;
  ompt_callbacks.ompt_callback(ompt_callback_dispatch)(region(), task(), kind, instance);
}

void tell_masked(ompt_scope_endpoint_t end, void *address) {
  if (ompt_enabled.ompt_callback_masked)
    ompt_callbacks.ompt_callback(ompt_callback_masked)(end, region(), task(), caller(address));
}

void tell_reduction(ompt_scope_endpoint_t end, void *address) {
  if (ompt_enabled.ompt_callback_reduction)
    ompt_callbacks.ompt_callback(ompt_callback_reduction)(ompt_sync_region_reduction, end, region(),
                                                          task(), caller(address));
}

// Whether the thread that ends a `single` is the one that has executed it. All threads call the
// end, and nothing that they do between the two calls changes the word: libomp keeps the chunk of a
// taskloop's task in it, and a `single` belongs to an implicit task. It is written and read only if
// there is a tool.
uint64_t *executor_mark() { return &__ompt_get_task_info_object(0)->dispatch_chunk.iterations; }
#define TELL(event) event
#else
#define TELL(event)
#endif

} // namespace

extern "C" {

// ---- barriers ----

void KMP_EXPAND_NAME(GOMP_barrier_ext)(unsigned kind) {
  const int gtid = __kmp_entry_gtid();
  const kmp_gomp_frame_t frame(__builtin_frame_address(0));
  OMPT_STORE_RETURN_ADDRESS(gtid);
  __kmpc_barrier(location_of_barrier(kind), gtid);
}
KMP_VERSION_SYMBOL(GOMP_barrier_ext, 602, "GOMP_6.0.2");

// True if the region or the construct that the barrier ends is cancelled.
bool KMP_EXPAND_NAME(GOMP_barrier_cancel_ext)(unsigned kind) {
  const int gtid = __kmp_get_gtid();
  const kmp_gomp_frame_t frame(__builtin_frame_address(0));
  OMPT_STORE_RETURN_ADDRESS(gtid);
  __kmp_threads[gtid]->th.th_ident = location_of_barrier(kind);
  return __kmp_barrier_gomp_cancel(gtid);
}
KMP_VERSION_SYMBOL(GOMP_barrier_cancel_ext, 602, "GOMP_6.0.2");

// ---- masked ----

bool KMP_EXPAND_NAME(GOMP_has_masked_thread_num)(int filter) {
  if (__kmp_entry_thread()->th.th_info.ds.ds_tid != filter)
    return false;
  TELL(tell_masked(ompt_scope_beginend, OMPT_GET_RETURN_ADDRESS(0)));
  return true;
}
KMP_VERSION_SYMBOL(GOMP_has_masked_thread_num, 602, "GOMP_6.0.2");

bool KMP_EXPAND_NAME(GOMP_has_masked_thread_num_with_end)(int filter) {
  if (__kmp_entry_thread()->th.th_info.ds.ds_tid != filter)
    return false;
  TELL(tell_masked(ompt_scope_begin, OMPT_GET_RETURN_ADDRESS(0)));
  return true;
}
KMP_VERSION_SYMBOL(GOMP_has_masked_thread_num_with_end, 602, "GOMP_6.0.2");

// Called by the thread that executes the region.
void KMP_EXPAND_NAME(GOMP_masked_end)(void) {
  TELL(tell_masked(ompt_scope_end, OMPT_GET_RETURN_ADDRESS(0)));
}
KMP_VERSION_SYMBOL(GOMP_masked_end, 602, "GOMP_6.0.2");

// ---- single ----

bool KMP_EXPAND_NAME(GOMP_single_start_with_end)(void) {
  static ident_t loc = {0, KMP_IDENT_KMPC, 0, 0, ";unknown;unknown;0;0;;"};
  // FALSE: libomp's list of open constructs, for its consistency checks, does not get this one.
  const bool is_mine = __kmp_enter_single(__kmp_entry_gtid(), &loc, FALSE);
#if OMPT_SUPPORT && OMPT_OPTIONAL
  if (ompt_enabled.ompt_callback_work) {
    *executor_mark() = is_mine;
    tell_work(is_mine ? ompt_work_single_executor : ompt_work_single_other, ompt_scope_begin, 1,
              OMPT_GET_RETURN_ADDRESS(0));
  }
#endif
  return is_mine;
}
KMP_VERSION_SYMBOL(GOMP_single_start_with_end, 602, "GOMP_6.0.2");

void KMP_EXPAND_NAME(GOMP_single_end)(void) {
#if OMPT_SUPPORT && OMPT_OPTIONAL
  if (!ompt_enabled.ompt_callback_work)
    return;
  const bool is_mine = *executor_mark() != 0;
  *executor_mark() = 0;
  tell_work(is_mine ? ompt_work_single_executor : ompt_work_single_other, ompt_scope_end, 1,
            OMPT_GET_RETURN_ADDRESS(0));
#endif
}
KMP_VERSION_SYMBOL(GOMP_single_end, 602, "GOMP_6.0.2");

// ---- scope ----

// Called by all threads of the team. NULL: the scope has no task reductions.
void KMP_EXPAND_NAME(GOMP_scope_start_with_end)(uintptr_t *reductions) {
  const int gtid = __kmp_entry_gtid();
  if (reductions) {
    OMPT_STORE_RETURN_ADDRESS(gtid);
    KMP_EXPAND_NAME(GOMP_scope_start)(reductions);
  }
  TELL(tell_work(ompt_work_scope, ompt_scope_begin, 1, OMPT_GET_RETURN_ADDRESS(0)));
}
KMP_VERSION_SYMBOL(GOMP_scope_start_with_end, 602, "GOMP_6.0.2");

void KMP_EXPAND_NAME(GOMP_scope_end)(void) {
  TELL(tell_work(ompt_work_scope, ompt_scope_end, 1, OMPT_GET_RETURN_ADDRESS(0)));
}
KMP_VERSION_SYMBOL(GOMP_scope_end, 602, "GOMP_6.0.2");

// ---- reductions ----

// A thread adds its values to the original variables between these two. The lock is that of
// GOMP_atomic_start(), by which older GCCs do so: threads may do it for one variable by the code of
// both.
void KMP_EXPAND_NAME(GOMP_reduction_start)(void) {
  const int gtid = __kmp_entry_gtid();
  TELL(tell_reduction(ompt_scope_begin, OMPT_GET_RETURN_ADDRESS(0)));
#if OMPT_SUPPORT
  __ompt_thread_assign_wait_id(0);
#endif
  __kmp_acquire_atomic_lock(&__kmp_atomic_lock, gtid);
}
KMP_VERSION_SYMBOL(GOMP_reduction_start, 602, "GOMP_6.0.2");

void KMP_EXPAND_NAME(GOMP_reduction_end)(void) {
  __kmp_release_atomic_lock(&__kmp_atomic_lock, __kmp_get_gtid());
  TELL(tell_reduction(ompt_scope_end, OMPT_GET_RETURN_ADDRESS(0)));
}
KMP_VERSION_SYMBOL(GOMP_reduction_end, 602, "GOMP_6.0.2");

// ---- static loops ----

// The program divides a loop of so many iterations among the threads of the team.
pair_t KMP_EXPAND_NAME(GOMP_loop_static_worksharing)(unsigned long long iterations) {
  const kmp_info_t *thread = __kmp_entry_thread(); // initialises libomp
  TELL(tell_work(ompt_work_loop_static, ompt_scope_beginend, iterations,
                 OMPT_GET_RETURN_ADDRESS(0)));
  return place_in_team(thread);
}
KMP_VERSION_SYMBOL(GOMP_loop_static_worksharing, 602, "GOMP_6.0.2");

pair_t KMP_EXPAND_NAME(GOMP_loop_static_worksharing_start)(unsigned long long iterations) {
  const kmp_info_t *thread = __kmp_entry_thread(); // initialises libomp
  TELL(tell_work(ompt_work_loop_static, ompt_scope_begin, iterations, OMPT_GET_RETURN_ADDRESS(0)));
  return place_in_team(thread);
}
KMP_VERSION_SYMBOL(GOMP_loop_static_worksharing_start, 602, "GOMP_6.0.2");

void KMP_EXPAND_NAME(GOMP_loop_static_worksharing_dispatch)(unsigned long long start,
                                                            unsigned long long iterations) {
  TELL(tell_chunk(ompt_dispatch_ws_loop_chunk, start, iterations));
}
KMP_VERSION_SYMBOL(GOMP_loop_static_worksharing_dispatch, 602, "GOMP_6.0.2");

void KMP_EXPAND_NAME(GOMP_loop_static_worksharing_end)(void) {
  TELL(tell_work(ompt_work_loop_static, ompt_scope_end, 0, OMPT_GET_RETURN_ADDRESS(0)));
}
KMP_VERSION_SYMBOL(GOMP_loop_static_worksharing_end, 602, "GOMP_6.0.2");

// The program divides a loop of so many iterations among the teams of the league.
pair_t KMP_EXPAND_NAME(GOMP_distribute_static_worksharing)(unsigned long long iterations) {
  __kmp_entry_gtid(); // initialises libomp
  TELL(
      tell_work(ompt_work_distribute, ompt_scope_beginend, iterations, OMPT_GET_RETURN_ADDRESS(0)));
  return place_in_league();
}
KMP_VERSION_SYMBOL(GOMP_distribute_static_worksharing, 602, "GOMP_6.0.2");

pair_t KMP_EXPAND_NAME(GOMP_distribute_static_worksharing_start)(unsigned long long iterations) {
  __kmp_entry_gtid(); // initialises libomp
  TELL(tell_work(ompt_work_distribute, ompt_scope_begin, iterations, OMPT_GET_RETURN_ADDRESS(0)));
  return place_in_league();
}
KMP_VERSION_SYMBOL(GOMP_distribute_static_worksharing_start, 602, "GOMP_6.0.2");

void KMP_EXPAND_NAME(GOMP_distribute_static_worksharing_dispatch)(unsigned long long start,
                                                                  unsigned long long iterations) {
  TELL(tell_chunk(ompt_dispatch_distribute_chunk, start, iterations));
}
KMP_VERSION_SYMBOL(GOMP_distribute_static_worksharing_dispatch, 602, "GOMP_6.0.2");

void KMP_EXPAND_NAME(GOMP_distribute_static_worksharing_end)(void) {
  TELL(tell_work(ompt_work_distribute, ompt_scope_end, 0, OMPT_GET_RETURN_ADDRESS(0)));
}
KMP_VERSION_SYMBOL(GOMP_distribute_static_worksharing_end, 602, "GOMP_6.0.2");

} // extern "C"
