// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Replaces libomp's kmp.h: as much of it as kmp_hierbar_phases.cpp needs to be compiled, for
// gathers and releases without tasks.
//
// libomp's volatile words are relaxed atomics here, because compilers make that of them on every
// machine. Its plain fields are plain, so that the checker reports a race if a wait does not order
// what comes after it.

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

#define KMP_HIERBAR_LLVM_MAJOR 22
#define KMP_AFFINITY_SUPPORTED 0
#define KMP_USE_MONITOR 0
#define ENABLE_LIBOMPTARGET 0
#define OMPT_SUPPORT 0
#define OMPT_OPTIONAL 0
#define USE_ITT_BUILD 0
#define USE_ITT_NOTIFY 0
#define KMP_ITT_DEBUG 0
#define USE_ITT_BUILD_ARG(x)

using kmp_int32 = std::int32_t;
using kmp_int64 = std::int64_t;
using kmp_uint8 = std::uint8_t;
using kmp_uint32 = std::uint32_t;
using kmp_uint64 = std::uint64_t;

enum barrier_type { bs_plain_barrier, bs_forkjoin_barrier, bs_reduction_barrier, bs_last_barrier };
enum kmp_proc_bind_t { proc_bind_false };
using microtask_t = void (*)(int *gtid, int *tid, ...);
using omp_allocator_handle_t = void *;
using kmp_va_list = va_list *;
#define kmp_va_deref(ap) (*(ap))

enum kmp_cancel_kind_t { cancel_noreq };
enum kmp_pause_status_t { kmp_not_paused, kmp_soft_paused };

#ifndef TRUE
#define TRUE 1
#define FALSE 0
#endif
#define KMP_MIN(a, b) ((a) < (b) ? (a) : (b))
#define KMP_MASTER_TID(tid) ((tid) == 0)
#define KMP_DEBUG_ASSERT(condition) ((void)0)
#define KMP_INIT_BARRIER_STATE 0
#define KMP_BARRIER_STATE_BUMP 4
#define KMP_BARRIER_SLEEP_STATE 1
#define KMP_MAX_BLOCKTIME INT32_MAX
#define KMP_NSEC_PER_USEC 1000
#define KMP_NOW() 0
#define KMP_OVERSUBSCRIBED 1  // no spinning, which the checker would not follow
#define KMP_TASKING_ENABLED(task_team) false
#define KMP_BLOCKTIME_INTERVAL(team, tid) 0
#define TCR_4(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define TCR_8(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define KMP_TEST_THEN_ADD4_64(word) __atomic_fetch_add(word, 4, __ATOMIC_SEQ_CST)
#define KMP_FSYNC_RELEASING(word) ((void)0)
#define CCAST(type, value) const_cast<type>(value)
#define RCAST(type, value) reinterpret_cast<type>(value)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define TCW_4(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)
#define OMPT_REDUCTION_DECL(this_thr, gtid)
#define OMPT_REDUCTION_BEGIN
#define OMPT_REDUCTION_END

struct ident_t {
  kmp_int32 flags;
};
struct kmp_str_buf_t;
struct kmp_hierbar_team;
struct kmp_team_t;
struct kmp_info_t;
struct kmp_bootstrap_lock_t;
struct kmp_root_t {
  struct {
    kmp_team_t *r_root_team;
  } r;
};
// Where the driver puts the adapter's code.
namespace under_test {
namespace {
struct kmp_hierbar_region;
}
}  // namespace under_test

// As large as libomp's, because the payload of lean regions is laid over it. The checker wants
// members of the payload's sizes.
struct kmp_internal_control_t {
  kmp_int64 blocktime;
  kmp_int64 others[4];
  kmp_int32 more[2];
  kmp_internal_control_t *next;
};
inline void copy_icvs(kmp_internal_control_t *to, const kmp_internal_control_t *from) {
  to->blocktime = from->blocktime;
}

struct kmp_base_task_team_t {
  kmp_int32 tt_found_tasks;
  kmp_int32 tt_found_proxy_tasks;
  kmp_int32 tt_hidden_helper_task_encountered;
};
struct kmp_task_team_t {
  kmp_base_task_team_t tt;
};

struct kmp_bstate_t {
  kmp_internal_control_t th_fixed_icvs;
  volatile kmp_uint64 b_go;
  volatile kmp_uint64 b_arrived;
};
struct kmp_balign_t {
  kmp_bstate_t bb;
};
struct kmp_balign_team_t {
  kmp_uint64 b_arrived;
};

struct kmp_taskdata_t {
  kmp_internal_control_t td_icvs;
};

struct kmp_info_t {
  struct {
    struct {
      struct {
        int ds_tid;
        int ds_gtid;
      } ds;
    } th_info;
    kmp_team_t *th_team;
    int th_team_nproc;
    kmp_task_team_t *th_task_team;
    kmp_uint8 th_task_state;
    kmp_root_t *th_root;
    under_test::kmp_hierbar_region *th_hierbar_region;
    kmp_uint32 th_hierbar_changes;
    bool th_hierbar_may_repeat;
    bool th_nt_strict;
    int *th_set_nested_nth;
    ident_t *th_ident;
    struct {
      void *reduce_data;
    } th_local;
    kmp_uint64 th_team_bt_intervals;
    kmp_balign_t th_bar[bs_last_barrier];
  } th;
};

struct kmp_team_t {
  struct {
    kmp_hierbar_team *t_hierbar;
    int t_serialized;
    int t_nproc;
    std::atomic<kmp_int32> t_cancel_request;
    ident_t *t_ident;
    kmp_info_t **t_threads;
    kmp_taskdata_t *t_implicit_task_taskdata;
    kmp_balign_team_t t_bar[bs_last_barrier];
  } t;
};

struct kmp_global_t {
  struct {
    kmp_int32 g_done;
  } g;
};
extern kmp_global_t __kmp_global;
extern kmp_info_t **__kmp_threads;
extern int __kmp_dflt_blocktime;
constexpr int __kmp_env_blocktime = 1;  // the user's, so no wait learns how long to yield
constexpr int __kmp_nth = 1;            // as many threads as cpus
extern kmp_pause_status_t __kmp_pause_status;

int __kmp_tid_from_gtid(int gtid);
void __kmp_disable(int *old_state);
void __kmp_enable(int old_state);
void __kmp_push_num_threads(ident_t *, int gtid, int num_threads);
void __kmp_push_proc_bind(ident_t *, int gtid, kmp_proc_bind_t);
void __kmp_init_implicit_task(ident_t *, kmp_info_t *, kmp_team_t *, int tid, int set_curr_task);
void __kmp_task_team_setup(kmp_info_t *, kmp_team_t *);
void __kmp_task_team_wait(kmp_info_t *, kmp_team_t *);
void __kmp_task_team_sync(kmp_info_t *, kmp_team_t *);
template <bool kCancellable, bool kSleepable>
void __kmp_resume_64(int gtid, void *flag);
