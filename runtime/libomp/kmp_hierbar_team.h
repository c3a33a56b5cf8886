// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_TEAM_H
#define KMP_HIERBAR_TEAM_H

// What a team keeps for the barrier, shared by the files of this folder.

#include "kmp.h"
#include "kmp_hierbar_host.h"

#include "barrier/flat_plan.hpp"
#include "barrier/release_choice.hpp"
#include "service/place_service.h"
#include "service/plan_service.h"

// libomp's clock; on x86 kmp.h does not declare it.
extern kmp_uint64 __kmp_now_nsec();

// Counts by the way an episode went. Written by the team's primary only, so they need no atomics;
// read when the team is reaped or the library is cleaned up.
struct kmp_hierbar_counts_t {
  kmp_uint64 fast;   // one exchange and nothing else
  kmp_uint64 slow;   // a plain barrier with tasks, announced by the exchange or expected: the primary acted, then released
  kmp_uint64 led;    // without tasks, but the primary wanted to release the others (barrier/release_choice.hpp)
  kmp_uint64 phased; // gather and release with the primary in between: fork and join, reduction, split, cancellation, ITT
  kmp_uint64 stock;  // libomp's own cancellable linear barrier
  // Regions; their joins are counted by `phased`.
  kmp_uint64 lean;     // region/kmp_hierbar_region.h
  kmp_uint64 ordinary; // libomp's way
};

// A plan with the memory its barrier runs on. Teams of different sizes run on different memory, so
// that all words of one memory are always at the same epoch.
struct kmp_hierbar_instance_t {
  const hierbar_plan *plan; // NULL: unused
  hierbar::FlatPlan *flat;  // the owner of plan when it was made here; NULL when libhierbar.so made it
  void *lines;
  size_t lines_bytes;
  kmp_uint64 serial; // of this plan among all of the process, from 1; for tools
  kmp_uint64 used;   // when it was chosen last: a count of the team's choices
  int nproc;         // participants of the plan
  int *places;       // place of each thread when the plan was made; NULL when the plan does not depend on places
};

#define KMP_HIERBAR_MAX_INSTANCES 16

// What tells that the threads of a team may have moved, without a look at each of them.
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
  bool worker_records;         // the next regions may be lean, so its workers keep what they need for them
  kmp_uint32 release_width;    // how many a thread releases of its queue in a fork (barrier/pass_on.hpp)
  kmp_uint32 task_expectation; // whether the next plain barrier is taken to have tasks; see tasks_are_expected

  // Those used last: programs whose regions take turns in up to as many sizes rebuild nothing. One
  // for 128 threads takes 80 KiB.
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

// libhierbar.so, bound when the settings are read; all NULL without it.
struct kmp_hierbar_library_t {
  decltype(&hierbar_check_settings) check_settings;
  decltype(&hierbar_plan_create) plan_create;
  decltype(&hierbar_plan_destroy) plan_destroy;
  decltype(&hierbar_plan_units) plan_units;
  decltype(&hierbar_describe_machine) describe_machine;
  decltype(&hierbar_describe_plan) describe_plan;
  decltype(&hierbar_place) place;
  decltype(&hierbar_cpu_quota) cpu_quota;
  decltype(&hierbar_version) version;
};
extern kmp_hierbar_library_t __kmp_hierbar_library;

// Print one line on stderr: a note, and a warning (not when KMP_WARNINGS=off). The context is not
// used.
void __kmp_hierbar_note(void *context, const char *line);
void __kmp_hierbar_warn(void *context, const char *line);
// One warning with the variable, its value, what is allowed and what happens instead.
void __kmp_hierbar_warn_bad_value(char const *name, char const *value, char const *allowed, char const *instead);

// Reads HIERBAR_PRIMARY and HIERBAR_BIND, when libomp knows its own settings.
void __kmp_hierbar_read_primary();
#if KMP_AFFINITY_SUPPORTED
// The process has no cpus of its own: under HIERBAR_BIND=share no thread is bound or moved.
void __kmp_hierbar_forgo_binding(kmp_affinity_t &affinity);
#endif

// The report: start it, after libhierbar.so took load_ns to load; the teams whose episodes it
// counts.
void __kmp_hierbar_start_report(kmp_uint64 load_ns);
void __kmp_hierbar_register(kmp_hierbar_team_t *team);
void __kmp_hierbar_unregister(kmp_hierbar_team_t *team);
// Prints the tree, the first plan and what they cost, once.
void __kmp_hierbar_describe_once(const hierbar_plan *plan, kmp_uint64 plan_ns);

// Bind libhierbar.so, which lies beside this library. Returns false, after one warning, when it
// cannot be used.
bool __kmp_hierbar_load_library();

#endif // KMP_HIERBAR_TEAM_H
