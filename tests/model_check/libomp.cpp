// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libomp's barrier with the primary in between, as kmp_hierbar.cpp does it over b_arrived and b_go: gather, the primary acts,
// release. The adapter's code is the real one; what it calls of libomp is stand_ins/libomp.

#include "libomp/kmp_hierbar_team.h"
#include "libomp/kmp_hierbar_trace.h"

#include "oracle.hpp"
#include "threads.hpp"

// In a namespace of its own, so that the compiler drops the functions that nobody calls: the checker does not understand them
// all.
namespace under_test {
namespace {
#include "libomp/kmp_hierbar.cpp"
bool __kmp_hierbar_enabled = true;
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
        std::atomic_thread_fence(std::memory_order_seq_cst);  // KMP_MB() of __kmp_barrier_template
      }
      under_test::__kmp_hierbar_release(kKind, &self, kMe, kMe, FALSE);
      MODEL_EXPECT(acted == episode);
      Oracle::check(episode);
    }
  }
};

// As it is when the team has been made. The threads are started afterwards, so they see all of this.
void make_team() {
  // Member by member, because the checker knows neither initialisers of objects with pointers nor memset().
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
