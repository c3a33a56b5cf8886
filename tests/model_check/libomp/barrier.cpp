// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libomp's barrier in which the primary acts, as kmp_hierbar_phases.cpp runs it over b_arrived and
// b_go: gather, the primary acts, release. The adapter's code is the real one. What it calls in
// libomp is in stand_ins/libomp.

#include "libomp/team.hpp"

namespace under_test {
namespace {
bool __kmp_hierbar_run_released_region(kmp_info_t*, int) { return false; }
}  // namespace
}  // namespace under_test

namespace hierbar::model {
namespace {

constexpr barrier_type kKind = MODEL_PLAIN ? bs_plain_barrier : bs_reduction_barrier;

std::uint32_t acted;

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

}  // namespace
}  // namespace hierbar::model

int main() {
  hierbar::model::make_team();
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
