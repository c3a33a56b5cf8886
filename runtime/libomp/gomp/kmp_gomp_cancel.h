// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_CANCEL_H
#define KMP_GOMP_CANCEL_H

// Cancellation. Called by kmp_cancel.cpp, kmp_dispatch.cpp, where a cancelled region has more loops
// than libomp has buffers, and kmp_runtime.cpp.

#include "kmp.h"
#include "libomp/gomp/kmp_gomp_workshare.h"

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
  while (taskgroup && taskgroup->parent && taskgroup->gomp_data &&
         taskgroup->gomp_data[KMP_GOMP_TABLE_IS_WORKSHARE])
    taskgroup = taskgroup->parent;
  return taskgroup;
}

// Waits until the buffer of an earlier loop or sections can serve this construct, the thread's
// `construct`-th one (from 0) in the region. A thread that has left the cancelled region will never
// say that it is through with the earlier one; it is not waited for.
void __kmp_gomp_wait_for_buffer(kmp_info_t *thread, volatile kmp_uint32 *buffer_index,
                                kmp_uint32 construct);

// Before a region of a team whose last one ended with a pending request: takes back what constructs
// that some threads did not come to, or did not finish, have left in the team.
void __kmp_gomp_forget_cancellation(int gtid, kmp_team_t *team);

// Before a thread leaves its team. It may have left a cancelled barrier before it was released
// there, and must not take that release for one of its next team.
static inline void __kmp_gomp_forget_release(kmp_info_t *thread) {
  TCW_4(thread->th.th_bar[bs_plain_barrier].bb.b_go, KMP_INIT_BARRIER_STATE);
}

#endif // KMP_GOMP_CANCEL_H
