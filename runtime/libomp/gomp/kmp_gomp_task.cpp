// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Task clauses and constructs with task reductions that GCC compiles to entry points younger than
// LLVM's kmp_gsupport.cpp.

#include "libomp/gomp/kmp_gomp_task.h"

#include "libomp/gomp/kmp_gomp_ompt.h"
#include "libomp/gomp/kmp_gomp_workshare.h"

#if OMPD_SUPPORT
#include "ompd-specific.h"
#endif

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

// ---- tasks that are executed at once ----

// A task that is not deferred: its if clause is false, its team has one thread, its parent is
// final, or the thread's deque is full.
//
// LLVM counts it in its parent and its taskgroup, by atomic operations. Nobody can wait for these
// counts while it runs: its parent is below it on the stack, and so is the task that began the
// taskgroup, or that task waits for one which is. So it is not counted.
//
// What may outlive it is its data, because its children point to it. If it leaves none, nobody else
// knows the data, and the thread's next task of this kind takes it, with the fields that such a
// task leaves as they were. Otherwise the task is counted now, and ends LLVM's way.

namespace {

ident_t task_location = {0, KMP_IDENT_KMPC, 0, 0, ";unknown;unknown;0;0;;"};

// The data of ended tasks of this kind, linked by td_parent; for the thread alone. It is a list of
// blocks of __kmp_fast_allocate(), so it lives as long as they do.
inline kmp_taskdata_t *spare_of(const kmp_info_t *thread) {
  return (kmp_taskdata_t *)thread->th.th_free_lists[KMP_GOMP_SPARE_TASKS].th_free_list_self;
}
inline void set_spare(kmp_info_t *thread, kmp_taskdata_t *first) {
  thread->th.th_free_lists[KMP_GOMP_SPARE_TASKS].th_free_list_self = first;
}

// Sets what is the same for all such tasks of the thread.
[[gnu::noinline]] kmp_taskdata_t *make_data(kmp_info_t *thread) {
  const size_t size = sizeof(kmp_taskdata_t) + sizeof(kmp_task_t);
  kmp_taskdata_t *task = (kmp_taskdata_t *)__kmp_fast_allocate(thread, size);
  memset((void *)task, 0, size);
  task->td_alloc_thread = thread;
  task->td_ident = &task_location;
  KMP_ATOMIC_ST_RLX(&task->td_allocated_child_tasks, 1); // itself
  task->td_size_alloc = size;
  task->td_allow_completion_event.type = KMP_EVENT_UNINITIALIZED;
  return task;
}

inline kmp_tasking_flags_t flags_of(const kmp_team_t *team, const kmp_taskdata_t *parent,
                                    unsigned gomp_flags) {
  kmp_tasking_flags_t flags = {};
  flags.tiedness = TASK_TIED; // one that never moves
  flags.final = parent->td_flags.final | ((gomp_flags & KMP_GOMP_TASK_FINAL) != 0);
  flags.tasktype = TASK_EXPLICIT;
  flags.task_serial = 1;
  flags.tasking_ser = __kmp_tasking_mode == tskm_immediate_exec;
  flags.team_serial = team->t.t_serialized != 0;
  flags.started = flags.executing = 1;
  flags.native = 1;
  return flags;
}

inline kmp_taskdata_t *begin(kmp_info_t *thread, kmp_taskdata_t *parent, void (*func)(void *),
                             void *data, unsigned gomp_flags) {
  kmp_taskdata_t *task = spare_of(thread);
  if (UNLIKELY(task == NULL))
    task = make_data(thread);
  else
    set_spare(thread, task->td_parent);
  kmp_team_t *team = thread->th.th_team;
  task->td_task_id = KMP_GEN_TASK_ID();
  task->td_flags = flags_of(team, parent, gomp_flags);
  task->td_team = team;
  task->td_parent = parent;
  task->td_level = parent->td_level + 1;
  task->td_taskwait_ident = NULL;
  task->td_taskwait_counter = 0;
  task->td_taskwait_thread = 0;
  copy_icvs(&task->td_icvs, &parent->td_icvs);
  task->td_taskgroup = parent->td_taskgroup;
  task->td_task_team = thread->th.th_task_team;
  task->td_last_tied = task;
  kmp_task_t *thunk = KMP_TASKDATA_TO_TASK(task);
  thunk->routine = (kmp_routine_entry_t)func;
  thunk->shareds = data;
  if (UNLIKELY(gomp_flags & KMP_GOMP_TASK_UNTIED)) {
    task->td_last_tied = parent->td_last_tied; // while it waits the thread may run what that allows
    if (!team->t.t_serialized && task->td_task_team != NULL)
      KMP_CHECK_UPDATE(task->td_task_team->tt.tt_untied_task_encountered, 1);
  }
  parent->td_flags.executing = 0;
  thread->th.th_current_task = task;
  return task;
}

inline void end(kmp_info_t *thread, kmp_taskdata_t *task) {
  // Acquire: pairs with the decrement by which the last child has freed itself.
  if (UNLIKELY(KMP_ATOMIC_LD_ACQ(&task->td_allocated_child_tasks) != 1 || task->td_dephash)) {
    __kmpc_omp_task_complete_if0(&task_location, thread->th.th_info.ds.ds_gtid,
                                 KMP_TASKDATA_TO_TASK(task));
    return;
  }
  kmp_taskdata_t *parent = task->td_parent;
  thread->th.th_current_task = parent;
  parent->td_flags.executing = 1;
  task->td_parent = spare_of(thread);
  set_spare(thread, task);
}

[[gnu::noinline]] void run_with_copy(kmp_info_t *thread, kmp_taskdata_t *parent,
                                     void (*func)(void *), void *data,
                                     void (*copy_func)(void *, void *), long arg_size,
                                     long arg_align, unsigned gomp_flags) {
  const uintptr_t space = (uintptr_t)KMP_ALLOCA(arg_size + arg_align - 1);
  void *args = (void *)((space + arg_align - 1) / arg_align * arg_align);
  copy_func(args, data);
  kmp_taskdata_t *task = begin(thread, parent, func, args, gomp_flags);
  func(args);
  end(thread, task);
}

// As __kmp_push_task(), which is called when the task has been made. A task of an untied one goes
// there: whether the thread may run it depends on tasks below.
inline bool is_deque_full(const kmp_info_t *thread, const kmp_taskdata_t *parent) {
  const kmp_task_team_t *task_team = thread->th.th_task_team;
  if (task_team == NULL || !KMP_TASKING_ENABLED(task_team))
    return false;
  const kmp_thread_data_t *own = &task_team->tt.tt_threads_data[thread->th.th_info.ds.ds_tid];
  return own->td.td_deque != NULL && TCR_4(own->td.td_deque_ntasks) >= TASK_DEQUE_SIZE(own->td) &&
         __kmp_enable_task_throttling && parent->td_last_tied == parent;
}

// Whether a task whose if clause is true, or that has none, is executed at once and can be here.
// __kmp_invoke_task(), which executes it otherwise, discards what is cancelled and calls debuggers.
inline bool is_executed_at_once(const kmp_info_t *thread, const kmp_taskdata_t *parent,
                                unsigned gomp_flags) {
  if (UNLIKELY(__kmp_omp_cancellation))
    return false;
#if OMPD_SUPPORT
  if (UNLIKELY(ompd_state & OMPD_ENABLE_BP))
    return false;
#endif
  return parent->td_flags.final || thread->th.th_team->t.t_serialized ||
         __kmp_tasking_mode == tskm_immediate_exec ||
         (!(gomp_flags & KMP_GOMP_TASK_PRIORITY) && is_deque_full(thread, parent));
}

// NULL: LLVM's way makes it known.
inline kmp_info_t *find_thread() {
  if (UNLIKELY(!TCR_4(__kmp_init_middle)))
    return NULL;
#ifdef KMP_TDATA_GTID
  if (TCR_4(__kmp_gtid_mode) >= 3)
    return __kmp_gtid >= 0 ? __kmp_threads[__kmp_gtid] : NULL;
#endif
  return __kmp_entry_thread();
}

} // namespace

bool __kmp_gomp_run_at_once(void (*func)(void *), void *data, void (*copy_func)(void *, void *),
                            long arg_size, long arg_align, bool if_cond, unsigned gomp_flags) {
  if (gomp_flags & (KMP_GOMP_TASK_DEPEND | KMP_GOMP_TASK_DETACH | KMP_GOMP_TASK_TARGET))
    return false;
#if OMPT_SUPPORT
  if (UNLIKELY(ompt_enabled.enabled))
    return false;
#endif
  kmp_info_t *thread = find_thread();
  if (UNLIKELY(thread == NULL))
    return false;
  kmp_taskdata_t *parent = thread->th.th_current_task;
  if (if_cond && !is_executed_at_once(thread, parent, gomp_flags))
    return false;
  if (UNLIKELY(copy_func != NULL)) {
    run_with_copy(thread, parent, func, data, copy_func, arg_size, arg_align, gomp_flags);
    return true;
  }
  kmp_taskdata_t *task = begin(thread, parent, func, data, gomp_flags);
  func(data);
  end(thread, task);
  return true;
}

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
