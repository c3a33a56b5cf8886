// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Differences from GCC's library that a program may rely on. One that GCC compiled is told of each
// once, others of none; GOMP.md lists them.

#include "kmp_gomp.h"
#include "kmp_gomp_lock.h"
#include "kmp_i18n.h"
#include "kmp_io.h"

#include <atomic>

namespace {

// Whether the caller is to tell. Relaxed: nothing but the message depends on it.
bool claim(std::atomic<bool> *reported) {
  return __kmp_generate_warnings != kmp_warnings_off && !reported->exchange(true, std::memory_order_relaxed);
}

} // namespace

void __kmp_gomp_report_hard_pause() {
  static std::atomic<bool> reported{false};
  if (__kmp_gomp_is_loaded_for_gcc() && claim(&reported))
    __kmp_printf("OMP: Warning: threads and their threadprivate variables may outlive a hard pause of resources; GCC's library "
                 "would end the threads\n");
}

void __kmp_gomp_report_limit(kmp_info_t *thread, unsigned num_threads) {
  static std::atomic<bool> reported{false};
  const kmp_team_t *team = thread->th.th_team;
  const kmp_internal_control_t &icvs = thread->th.th_current_task->td_icvs;
  const int num_asked = num_threads > 0 ? (int)num_threads : icvs.nproc;
  const bool is_nested = team->t.t_active_level > __kmp_gomp_base_active_level();
  if (is_nested && num_asked > 1 && icvs.max_active_levels > team->t.t_active_level && claim(&reported))
    __kmp_printf("OMP: Warning: thread_limit(%d) bounds each parallel region; regions nested in one may have more threads "
                 "together, which GCC's library would not give them\n",
                 icvs.task_thread_limit);
}

// The library's name does not tell whose program it is: `hierbar run` preloads this one for all.
void __kmp_gomp_report_nesting(int gtid) {
  static std::atomic<bool> reported{false};
  const bool is_of_gcc = __kmp_threads[gtid]->th.th_current_task->td_flags.native; // GOMP_task has made it
  if (is_of_gcc && claim(&reported))
    __kmp_printf("OMP: Warning: omp_set_nest_lock() in a task nests, because another task of the same thread holds the lock; "
                 "GCC's library would wait for that task\n");
}

bool __kmp_gomp_stand_in(const char *allocator) {
  if (!__kmp_gomp_is_loaded_for_gcc())
    KMP_WARNING(OmpNoAllocator, allocator);
  return true;
}

bool __kmp_gomp_keep_allocator(omp_allocator_handle_t allocator) {
  if (!__kmp_gomp_is_loaded_for_gcc())
    return false;
  __kmp_def_allocator = allocator;
  return true;
}
