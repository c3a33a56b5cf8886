// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lean parallel regions, as kmp_hierbar_phases.cpp and region/kmp_hierbar_payload.h run them: the
// release brings the function and its arguments along, leaders pass it on, the join is a gather. At
// the end an ordinary release. The adapter's code is the real one; what it calls in libomp is in
// stand_ins/libomp.

#include "libomp/team.hpp"

namespace hierbar::model {

// The arguments are read by the workers from the line of b_go, which the primary writes anew for
// each region, and the cells are plain.
struct Region {
  static void body(std::uint32_t me, const under_test::kmp_hierbar_payload_t& payload,
                   std::uint32_t episode) {
    MODEL_EXPECT(payload.argc == static_cast<kmp_int32>(episode));
    MODEL_EXPECT(payload.args[0] == &infos[episode % kNumParticipants]);
    MODEL_EXPECT(given == episode);
    Oracle::write(me, episode);
  }
  static void function(int*, int*, ...) {}
  static inline std::uint32_t given;  // written by the primary before each region
  static inline std::uint32_t num_run[kNumParticipants];
};

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    if constexpr (kMe == 0) {
      run_primary();
    } else {
      under_test::__kmp_hierbar_release(bs_forkjoin_barrier, &infos[kMe], kMe, kMe, TRUE);
      MODEL_EXPECT(Region::num_run[kMe] == kNumEpisodes);
      MODEL_EXPECT(Region::given == kNumEpisodes + 1);
    }
  }

 private:
  static void run_primary() {
    for (std::uint32_t episode = 1; episode <= kNumEpisodes; ++episode) {
      under_test::kmp_hierbar_payload_t payload;
      for (void*& arg : payload.args) arg = &infos[episode % kNumParticipants];
      payload.argc = static_cast<kmp_int32>(episode);
      payload.microtask = Region::function;
      Region::given = episode;
      under_test::__kmp_hierbar_release_region(&team, kNumParticipants, 0, payload);
      Region::body(0, payload, episode);
      under_test::__kmp_hierbar_gather(bs_forkjoin_barrier, &infos[0], 0, 0, nullptr);
      Oracle::check(episode);
    }
    Region::given = kNumEpisodes + 1;
    under_test::__kmp_hierbar_release(bs_forkjoin_barrier, &infos[0], 0, 0, TRUE);
  }
};

}  // namespace hierbar::model

// As in kmp_hierbar_region.cpp, without what is the worker's own.
namespace under_test {
namespace {
bool __kmp_hierbar_run_released_region(kmp_info_t* self, int tid) {
  using hierbar::model::Region;
  kmp_hierbar_payload_t payload;
  if (!__kmp_hierbar_take(&payload, &self->th.th_bar[bs_forkjoin_barrier].bb)) return false;
  __kmp_hierbar_release_region(self->th.th_team, hierbar::model::kNumParticipants, tid, payload);
  Region::body(static_cast<std::uint32_t>(tid), payload, ++Region::num_run[tid]);
  __kmp_hierbar_gather(bs_forkjoin_barrier, self, tid, tid, nullptr);
  return true;
}
}  // namespace
}  // namespace under_test

void __kmp_init_implicit_task(ident_t*, kmp_info_t*, kmp_team_t*, int, int) {}

int main() {
  hierbar::model::make_team();
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
