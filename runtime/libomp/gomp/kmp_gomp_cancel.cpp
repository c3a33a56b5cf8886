// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What cancellation leaves behind in the buffers of worksharing constructs.
//
// libomp counts the threads that are through with a construct when they ask for their next chunk
// and get none; then its buffer can serve another construct. A thread that leaves a loop or
// sections by cancellation does not ask any more. It does so here, after it has made the iterations
// that are left unreachable: without that it would go through all their chunks.

#include "kmp_gomp.h"

#include "kmp_dispatch.h"

namespace {

template <typename T> void give_up(int gtid, kmp_disp_t *dispatch) {
  typedef typename traits_t<T>::unsigned_t U;
  typedef typename traits_t<T>::signed_t S;
  auto *mine = (dispatch_private_info_template<T> *)dispatch->th_dispatch_pr_current;
  auto *shared = (dispatch_shared_info_template<U> volatile *)dispatch->th_dispatch_sh_current;
  switch (mine->schedule) {
  case kmp_sch_dynamic_chunked:
  case kmp_sch_guided_iterative_chunked:
  case kmp_sch_guided_analytical_chunked:
    // What is taken is counted there, in chunks or in iterations. A chunk's number is multiplied by its size; that must not
    // overflow, so the count must not become larger than it may be.
    if (mine->schedule == kmp_sch_dynamic_chunked)
      shared->u.s.iteration = (mine->u.p.tc - 1) / (U)KMP_MAX(mine->u.p.parm1, (T)1) + 1;
    else
      shared->u.s.iteration = mine->u.p.tc;
    break;
  default: // a thread has few chunks of its own
    break;
  }
  T lower, upper;
  S stride;
  kmp_int32 last;
  while (sizeof(T) == 8
             ? __kmpc_dispatch_next_8u(NULL, gtid, &last, (kmp_uint64 *)&lower, (kmp_uint64 *)&upper, (kmp_int64 *)&stride)
             : __kmpc_dispatch_next_4u(NULL, gtid, &last, (kmp_uint32 *)&lower, (kmp_uint32 *)&upper, (kmp_int32 *)&stride)) {
  }
}

} // namespace

bool __kmp_gomp_leave_if(bool cancelled, int gtid, kmp_int32 kind) {
  kmp_info_t *thread = __kmp_threads[gtid];
  kmp_disp_t *dispatch = thread->th.th_dispatch;
  if (!cancelled || kind == cancel_taskgroup)
    return cancelled;
  kmp_team_t *team = thread->th.th_team;
  if (team->t.t_serialized) {
    // There is no buffer to share and nobody else to leave, so the request is done. No barrier takes
    // it back, and the serialized regions around this one have the same team.
    team->t.t_cancel_request = cancel_noreq;
    return true;
  }
  if (!dispatch->th_dispatch_pr_current) // no loop, or one that the compiler divided
    return true;
  if (dispatch->th_dispatch_pr_current->type_size == 8)
    give_up<kmp_uint64>(gtid, dispatch);
  else
    give_up<kmp_uint32>(gtid, dispatch);
  return true;
}

// Who leaves a region by cancellation may never have come to a loop that others have begun, so the
// loop's buffer is neither given back nor empty. The next region of the team must not find that.
// All threads of the team are in its fork barrier.
void __kmp_gomp_forget_cancellation(int gtid, kmp_team_t *team) {
  const int num_buffers = team->t.t_max_nproc > 1 ? __kmp_dispatch_num_buffers : 1;
  for (int i = 0; i < num_buffers; ++i) {
    dispatch_shared_info_t *buffer = &team->t.t_disp_buffer[i];
    memset((void *)&buffer->u, 0, sizeof(buffer->u));
    if (buffer->doacross_flags)
      __kmp_thread_free(__kmp_threads[gtid], (void *)buffer->doacross_flags);
    buffer->doacross_flags = NULL;
    buffer->doacross_num_done = 0;
  }
  team->t.t_cancel_request = cancel_noreq;
}
