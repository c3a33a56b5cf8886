// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libomp's barrier in which the primary acts, as kmp_hierbar_phases.cpp runs it over b_arrived and
// b_go: gather, the primary acts, release. The adapter's code is the real one. What it calls in
// libomp is in stand_ins/libomp.

#include "libomp/kmp_hierbar_team.h"
#include "libomp/kmp_hierbar_trace.h"

#include "oracle.hpp"
#include "threads.hpp"

// In its own namespace, so that the compiler drops the functions that nobody calls. The checker
// does not understand all of them.
namespace under_test {
namespace {
#include "libomp/kmp_hierbar_phases.cpp"
bool __kmp_hierbar_enabled = true;
bool __kmp_hierbar_lean_regions = false;
bool __kmp_hierbar_run_released_region(kmp_info_t*, int) { return false; }
void __kmp_hierbar_record_region_of_worker(kmp_info_t*, kmp_team_t*) {}
}  // namespace
}  // namespace under_test

namespace hierbar::model {
namespace {

constexpr barrier_type kKind = MODEL_PLAIN ? bs_plain_barrier : bs_reduction_barrier;

alignas(kLineBytes) unsigned char lines[kNumParticipants * HIERBAR_LINES_PER_SLOT * kLineBytes];
kmp_info_t infos[kNumParticipants];
kmp_info_t* threads[kNumParticipants];
kmp_taskdata_t tasks[kNumParticipants];
std::uint32_t acted;

alignas(kmp_hierbar_team) unsigned char hierbar_team[sizeof(kmp_hierbar_team)];
kmp_team_t team;

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    kmp_info_t& self = infos[kMe];
    for (std::uint32_t episode = 1; episode <= kNumEpisodes; ++episode) {
      Oracle::write(kMe, episode);
      under_test::__kmp_hierbar_gather(kKind, &self, kMe, kMe, nullptr);
      if (kMe == 0) {
        Oracle::check(episode);
        acted = episode;
        // KMP_MB() of __kmp_barrier_template
        std::atomic_thread_fence(std::memory_order_seq_cst);
      }
      under_test::__kmp_hierbar_release(kKind, &self, kMe, kMe, FALSE);
      MODEL_EXPECT(acted == episode);
      Oracle::check(episode);
    }
  }
};

// Makes the state of a new team. The threads are started afterwards, so they see all of it.
void make_team() {
  // Member by member, because the checker knows neither memset() nor initialisers of objects with
  // pointers.
  auto* const hier = reinterpret_cast<kmp_hierbar_team*>(hierbar_team);
  hier->engine = kmp_hierbar_engine_t(kPlan, lines);
  hier->nproc = kNumParticipants;
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

}  // namespace
}  // namespace hierbar::model

kmp_global_t __kmp_global;
int __kmp_tid_from_gtid(int gtid) { return gtid; }
bool __kmp_hierbar_traced;
__thread hierbar_phases* __kmp_hierbar_next_phases [[gnu::tls_model("initial-exec")]];

int main() {
  hierbar::model::make_team();
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
