// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// A team of libomp's for the drivers of kmp_hierbar_phases.cpp, which is compiled here. What it
// calls in libomp is in stand_ins/libomp; __kmp_hierbar_run_released_region is the driver's.

#include "barrier/pass_on.hpp"
#include "libomp/barrier/kmp_hierbar_team.h"
#include "libomp/barrier/kmp_hierbar_trace.h"

#include "participants.hpp"

// In its own namespace, so that the compiler drops the functions that nobody calls. The checker
// does not understand all of them.
namespace under_test {
namespace {
#include "libomp/barrier/kmp_hierbar_phases.cpp"
#include "libomp/region/kmp_hierbar_payload.h"
bool __kmp_hierbar_enabled = true;
bool __kmp_hierbar_lean_regions = false;
void __kmp_hierbar_record_region_of_worker(kmp_info_t*, kmp_team_t*) {}
}  // namespace
}  // namespace under_test

namespace hierbar::model {

alignas(
    kLineBytes) inline unsigned char lines[kNumParticipants * HIERBAR_LINES_PER_SLOT * kLineBytes];
inline kmp_info_t infos[kNumParticipants];
inline kmp_info_t* threads[kNumParticipants];
inline kmp_taskdata_t tasks[kNumParticipants];
alignas(kmp_hierbar_team) inline unsigned char hierbar_team[sizeof(kmp_hierbar_team)];
inline kmp_team_t team;

// Makes the state of a new team. The threads are started afterwards, so they see all of it.
inline void make_team() {
  // Member by member, because the checker knows neither memset() nor initialisers of objects with
  // pointers.
  auto* const hier = reinterpret_cast<kmp_hierbar_team*>(hierbar_team);
  hier->engine = kmp_hierbar_engine_t(kPlan, lines);
  hier->nproc = kNumParticipants;
  hier->release_width = kWidth;
  team.t.t_hierbar = hier;
  team.t.t_nproc = kNumParticipants;
  team.t.t_threads = threads;
  team.t.t_implicit_task_taskdata = tasks;
  for (std::uint32_t p = 0; p < kNumParticipants; ++p) {
    threads[p] = &infos[p];
    infos[p].th.th_team = &team;
    infos[p].th.th_team_nproc = kNumParticipants;
  }
}

}  // namespace hierbar::model

kmp_global_t __kmp_global;
int __kmp_tid_from_gtid(int gtid) { return gtid; }
bool __kmp_hierbar_traced;
void __kmp_hierbar_note_wait(kmp_hierbar_team*) {}  // it is about time
__thread hierbar_phases* __kmp_hierbar_next_phases [[gnu::tls_model("initial-exec")]];
