// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Task clauses and constructs with task reductions that GCC compiles to entry points younger than
// LLVM's kmp_gsupport.cpp.

#include "libomp/gomp/kmp_gomp_task.h"

#include "libomp/gomp/kmp_gomp_ompt.h"
#include "libomp/gomp/kmp_gomp_workshare.h"

void __kmp_gomp_set_task_clauses(ident_t *loc, int gtid, kmp_task_t *task, unsigned gomp_flags,
                                 int priority, void *detach, void *data) {
  if (gomp_flags & KMP_GOMP_TASK_PRIORITY)
    task->data2.priority = priority;
  if (gomp_flags & KMP_GOMP_TASK_DETACH) {
    void *event = __kmpc_task_allow_completion_event(loc, gtid, task);
    *(void **)detach = event;
    // The task has a copy of the handle, which the compiler made the first field of its data.
    if (data)
      *(void **)data = event;
  }
}

// The generated code does not differ from that of a deferred task, and a taskgroup waits for events
// too.
void __kmp_gomp_wait_for_detachable(void (*func)(void *), void *data,
                                    void (*copy_func)(void *, void *), long arg_size,
                                    long arg_align, unsigned gomp_flags, void **depend,
                                    int priority, void *detach) {
  const kmp_gomp_caller_t caller(__kmp_entry_gtid());
  KMP_EXPAND_NAME(GOMP_taskgroup_start)();
  caller.call_again();
  KMP_EXPAND_NAME(GOMP_task)(func, data, copy_func, arg_size, arg_align, true, gomp_flags, depend,
                             priority, detach);
  caller.call_again();
  KMP_EXPAND_NAME(GOMP_taskgroup_end)();
}

static void do_nothing(void *) {}

extern "C" {

// A task that does nothing but keeps the order of the dependences.
void KMP_EXPAND_NAME(GOMP_taskwait_depend_nowait)(void **depend) {
  OMPT_STORE_RETURN_ADDRESS(__kmp_entry_gtid());
  KMP_EXPAND_NAME(GOMP_task)(do_nothing, NULL, NULL, 0, 0, true, KMP_GOMP_TASK_DEPEND, depend, 0,
                             NULL);
}
KMP_VERSION_SYMBOL(GOMP_taskwait_depend_nowait, 511, "GOMP_5.1.1");

// Called by all threads of the team, and only if the scope has task reductions.
void KMP_EXPAND_NAME(GOMP_scope_start)(uintptr_t *reductions) {
  OMPT_STORE_RETURN_ADDRESS(__kmp_entry_gtid());
  // Without a place for the bounds of a first chunk, this registers the reductions as those of a
  // worksharing construct, and does no more.
  KMP_EXPAND_NAME(GOMP_loop_start)(0, 0, 0, 0, 0, NULL, NULL, reductions, NULL);
}
KMP_VERSION_SYMBOL(GOMP_scope_start, 51, "GOMP_5.1");

} // extern "C"

// ---- taskloops ----

// The taskloop construct of programs that GCC compiled.
//
// 1. Count the iterations. GCC passes the end exclusively, and the step with its sign: in the
//    unsigned version as its two's complement, with a flag that tells upwards from downwards.
// 2. Deal them out to tasks, as the grainsize or num_tasks clause asks.
// 3. Make the tasks. A task's data begins with its bounds. What GCC passes as the data to copy is a
//    record of the same layout, except if there is a copy function: then only that knows the
//    layout, and the bounds are written into the copy alone.

namespace {

enum : unsigned { // bits of the flags, besides those of GOMP_task
  flags_of_tasks = 1 << 0 | 1 << 1 | 1 << 2 | KMP_GOMP_TASK_PRIORITY,
  flag_up = 1 << 8,
  flag_grainsize = 1 << 9,
  flag_if = 1 << 10,
  flag_nogroup = 1 << 11,
  flag_reduction = 1 << 12,
  flag_strict = 1 << 14
};

// What the program asks for.
template <typename T> struct taskloop_t {
  void (*func)(void *);
  void *data;
  void (*copy_func)(void *, void *);
  long arg_size, arg_align;
  unsigned flags;
  T start, end, step;
};

// The task `data` for the iterations from lower to upper, exclusively.
template <typename T> struct chunk_t {
  const taskloop_t<T> *loop;
  T lower, upper;
};

template <typename T> void set_bounds(void *data, const chunk_t<T> *chunk) {
  ((T *)data)[0] = chunk->lower;
  ((T *)data)[1] = chunk->upper;
}

// For data that only the program's function can copy.
template <typename T> void copy_chunk(void *to, void *from) {
  const chunk_t<T> *chunk = (const chunk_t<T> *)from;
  chunk->loop->copy_func(to, chunk->loop->data);
  set_bounds(to, chunk);
}

template <typename T> void run_copied_chunk(void *data) {
  const taskloop_t<T> &loop = *((const chunk_t<T> *)data)->loop;
  const uintptr_t space = (uintptr_t)KMP_ALLOCA(loop.arg_size + loop.arg_align - 1);
  void *args = (void *)((space + loop.arg_align - 1) / loop.arg_align * loop.arg_align);
  copy_chunk<T>(args, data);
  loop.func(args);
}

template <typename T> void make_task(const chunk_t<T> &chunk, int priority) {
  const taskloop_t<T> &loop = *chunk.loop;
  const bool deferred = loop.flags & flag_if;
  const unsigned flags = loop.flags & flags_of_tasks;
  if (!loop.copy_func) {
    set_bounds(loop.data, &chunk);
    KMP_EXPAND_NAME(GOMP_task)(loop.func, loop.data, NULL, loop.arg_size, loop.arg_align, deferred,
                               flags, NULL, priority, NULL);
  } else if (deferred) {
    KMP_EXPAND_NAME(GOMP_task)(loop.func, (void *)&chunk, copy_chunk<T>, loop.arg_size,
                               loop.arg_align, true, flags, NULL, priority, NULL);
  } else {
    KMP_EXPAND_NAME(GOMP_task)(run_copied_chunk<T>, (void *)&chunk, NULL, 0, 0, false, flags, NULL,
                               priority, NULL);
  }
}

// How the iterations are dealt out: `num_tasks` tasks of `size`, the first `num_longer` of them
// have one more. With a strict grain size the last one may have fewer.
template <typename U> struct deal_t {
  U num_tasks, size, num_longer;
};

template <typename U>
deal_t<U> deal_out(U num_iterations, unsigned flags, unsigned long clause, int num_threads) {
  U num_tasks = clause;
  if (flags & flag_grainsize) {
    const U size = KMP_MAX(clause, 1ul);
    if (flags & flag_strict)
      return {(num_iterations - 1) / size + 1, size, 0};
    num_tasks = KMP_MAX(num_iterations / size, (U)1);
  } else if (num_tasks == 0) {
    num_tasks = (U)num_threads * 10; // as __kmp_taskloop
  }
  num_tasks = KMP_MIN(num_tasks, num_iterations);
  return {num_tasks, num_iterations / num_tasks, num_iterations % num_tasks};
}

template <typename T>
void make_tasks(const taskloop_t<T> &loop, const deal_t<typename traits_t<T>::unsigned_t> &deal,
                int priority, const kmp_gomp_caller_t &caller) {
  typedef typename traits_t<T>::unsigned_t U;
  chunk_t<T> chunk = {&loop, loop.start, loop.start};
  for (U task = 0; task < deal.num_tasks; ++task) {
    const U num_iterations = deal.size + (task < deal.num_longer ? 1 : 0);
    chunk.lower = chunk.upper;
    // The end itself, because a step beyond it may not be representable.
    chunk.upper =
        task + 1 == deal.num_tasks ? loop.end : (T)((U)chunk.lower + num_iterations * (U)loop.step);
    caller.call_again();
    make_task(chunk, priority);
  }
}

// Tells a tool when the construct begins and ends.
void report(bool begins, kmp_uint64 num_iterations, void *return_address) {
#if OMPT_SUPPORT && OMPT_OPTIONAL
  if (ompt_enabled.ompt_callback_work)
    ompt_callbacks.ompt_callback(ompt_callback_work)(
        ompt_work_taskloop, begins ? ompt_scope_begin : ompt_scope_end,
        &__ompt_get_teaminfo(0, NULL)->parallel_data, &__ompt_get_task_info_object(0)->task_data,
        num_iterations, return_address);
#endif
}

template <typename T>
void run(const taskloop_t<T> &loop, bool up, unsigned long num_tasks, int priority) {
  typedef typename traits_t<T>::unsigned_t U;
  // The data begins with this if there are reductions.
  struct head_t {
    T lower, upper;
    uintptr_t *reductions;
  };
  uintptr_t *reductions = (loop.flags & (flag_nogroup | flag_reduction)) == flag_reduction
                              ? ((head_t *)loop.data)->reductions
                              : NULL;
  if (up ? loop.start >= loop.end : loop.start <= loop.end) {
    if (reductions)
      reductions[2] = 0; // tells the program that nothing was registered
    return;
  }
  const int gtid = __kmp_entry_gtid();
  const kmp_gomp_caller_t caller(gtid);
  const U distance = up ? (U)loop.end - (U)loop.start : (U)loop.start - (U)loop.end;
  const U num_iterations = (distance - 1) / (up ? (U)loop.step : (U)0 - (U)loop.step) + 1;
  if (!(loop.flags & flag_nogroup))
    KMP_EXPAND_NAME(GOMP_taskgroup_start)();
  if (reductions)
    KMP_EXPAND_NAME(GOMP_taskgroup_reduction_register)(reductions);
  report(true, num_iterations, caller.address());
  make_tasks(loop,
             deal_out(num_iterations, loop.flags, num_tasks, __kmp_threads[gtid]->th.th_team_nproc),
             priority, caller);
  report(false, num_iterations, caller.address());
  caller.call_again();
  if (!(loop.flags & flag_nogroup))
    KMP_EXPAND_NAME(GOMP_taskgroup_end)();
}

} // namespace

void __kmp_gomp_taskloop(void (*func)(void *), void *data, void (*copy_func)(void *, void *),
                         long arg_size, long arg_align, unsigned flags, unsigned long num_tasks,
                         int priority, long start, long end, long step) {
  run<long>({func, data, copy_func, arg_size, arg_align, flags, start, end, step}, step > 0,
            num_tasks, priority);
}

void __kmp_gomp_taskloop(void (*func)(void *), void *data, void (*copy_func)(void *, void *),
                         long arg_size, long arg_align, unsigned flags, unsigned long num_tasks,
                         int priority, unsigned long long start, unsigned long long end,
                         unsigned long long step) {
  run<unsigned long long>({func, data, copy_func, arg_size, arg_align, flags, start, end, step},
                          flags & flag_up, num_tasks, priority);
}
