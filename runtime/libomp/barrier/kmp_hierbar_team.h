// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_TEAM_H
#define KMP_HIERBAR_TEAM_H

// What a team keeps for the barrier, shared by the files of this folder; at the end, whether its
// next barrier is expected to have tasks.

#include "kmp.h"
#include "libomp/barrier/kmp_hierbar_host.h"

#include "barrier/flat_plan.hpp"
#include "barrier/release_choice.hpp"

// Counts of episodes by path. Written by the team's primary only, so they need no atomics;
// read when the team is reaped or the library is cleaned up.
struct kmp_hierbar_counts_t {
  kmp_uint64 fast; // one exchange and nothing else
  kmp_uint64 slow; // a plain barrier with tasks, announced by the exchange or expected: the primary
                   // acted, then released
  kmp_uint64 led;  // without tasks, but the primary wanted to release the others
                   // (barrier/release_choice.hpp)
  kmp_uint64 phased; // gather and release with the primary in between: fork and join, reduction,
                     // split, cancellation, ITT
  kmp_uint64 stock;  // libomp's own cancellable linear barrier
  // Regions; their joins are counted by `phased`.
  kmp_uint64 lean;     // region/kmp_hierbar_region.h
  kmp_uint64 ordinary; // libomp's way
};

// A plan with the memory its barrier runs on. Teams of different sizes run on different memory, so
// that all words of one memory are always at the same epoch.
struct kmp_hierbar_instance_t {
  const hierbar_plan *plan; // NULL: unused
  hierbar::FlatPlan
      *flat; // the owner of plan when it was made here; NULL when libhierbar.so made it
  void *lines;
  size_t lines_bytes;
  kmp_uint64 serial; // of this plan among all of the process, from 1; for tools
  kmp_uint64 used;   // when it was chosen last: a count of the team's choices
  int nproc;         // participants of the plan
  int *places; // place of each thread when the plan was made; NULL when the plan does not depend on
               // places
};

#define KMP_HIERBAR_MAX_INSTANCES 16

// Shows that the threads of a team may have moved, without reading each of them.
struct kmp_hierbar_signature_t {
  int first_place;
  int last_place;
  kmp_proc_bind_t proc_bind;
  kmp_info_t *first_thread;
  kmp_info_t *last_thread;
};

struct kmp_hierbar_team {
  // Read by every thread in every barrier, written only while the workers are parked or all wait.
  kmp_hierbar_engine_t engine; // a view of the current instance
  int nproc;                   // its number of participants; 0 before the first
  kmp_uint64 serial;           // of its plan
  bool exchange_allowed;       // nothing about this team needs the primary in every barrier
  bool worker_records; // the next regions may be lean, so its workers keep what they need for them
  kmp_uint32
      release_width; // how many a thread releases of its queue in a fork (barrier/pass_on.hpp)
  kmp_uint32 task_expectation; // whether the next plain barrier is taken to have tasks; see
                               // KMP_HIERBAR_TASKS_EXPECTED

  // The plans used last. A program whose regions alternate between up to this many sizes rebuilds
  // nothing. One for 128 threads takes 80 KiB.
  kmp_hierbar_instance_t instances[KMP_HIERBAR_MAX_INSTANCES];
  int current;            // index of the one in use
  kmp_uint64 num_choices; // how often another one was chosen
  kmp_hierbar_signature_t signature;
  struct kmp_hierbar_team *next; // all teams, for the report
  struct kmp_hierbar_team *previous;

  // On lines of its own: the primary writes it in every episode.
  alignas(128) kmp_hierbar_counts_t counts;
  kmp_uint64 fast_at_task_barrier; // counts.fast at the last barrier that set task_expectation
  hierbar::ReleaseChoice release_choice;
};

typedef struct kmp_hierbar_team kmp_hierbar_team_t;
// Whether a team's next plain barrier is expected to have tasks. Announcing tasks costs an
// exchange, after which everybody waits once more, for b_go. After two barriers with tasks in a row
// the team expects a third and leaves the exchange out: gather and release are all that is needed.
// Two, so that a program in which barriers with and without tasks alternate keeps the exchange.
//
// An oversubscribed team expects tasks after one such barrier, and stops after two without. There
// an exchange and then a release call the scheduler once more for everybody, and gather and release
// alone are not much slower than an exchange.
//
// A team does the same without tasks while its primary wants to release the others itself
// (barrier/release_choice.hpp).
//
// All threads must make the same choice. So only the primary writes the expectation, when all have
// arrived and nobody has been released, and the others read it on arrival.

// From this value of task_expectation on, tasks are expected.
#define KMP_HIERBAR_TASKS_EXPECTED 2

static inline bool __kmp_hierbar_has_tasks(const kmp_task_team_t *task_team) {
  return task_team != NULL &&
         (TCR_4(task_team->tt.tt_found_tasks) | TCR_4(task_team->tt.tt_found_proxy_tasks) |
          TCR_4(task_team->tt.tt_hidden_helper_task_encountered));
}

// Only the primary calls it, between the last arrival and the first release. A barrier that is over
// after its exchange cannot reset the expectation, because the others leave it on their own; that
// there was one is seen at the next barrier with tasks.
static inline void __kmp_hierbar_remember_tasks(kmp_hierbar_team_t *hier, bool had_tasks) {
  const bool follows_another = hier->counts.fast == hier->fast_at_task_barrier;
  hier->fast_at_task_barrier = hier->counts.fast;
  const kmp_uint32 before = hier->task_expectation;
  kmp_uint32 expectation = had_tasks ? 1 : 0;
  if (hier->release_choice.wants_release())
    expectation = hier->release_choice.releases(KMP_NOW()) ? KMP_HIERBAR_TASKS_EXPECTED + 1 : 0;
  else if (hier->engine.is_oversubscribed())
    expectation = had_tasks ? KMP_HIERBAR_TASKS_EXPECTED + 1 : before - (before != 0);
  else if (had_tasks && follows_another)
    expectation = KMP_MIN(before + 1, KMP_HIERBAR_TASKS_EXPECTED);
  if (expectation != before) // all read this line; it is left alone while nothing changes
    hier->task_expectation = expectation;
}

#endif // KMP_HIERBAR_TEAM_H
