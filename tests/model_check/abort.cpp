// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hierbar_barrier_abort() while participants sleep in hierbar_barrier_wait(), with the code of both
// and with the real ThreadHost. The last participant aborts in place of crossing. All others must
// return HIERBAR_ABORTED, and see what it wrote before.

#include "api/episode.hpp"
#include "case.hpp"
#include "participants.hpp"

// In its own namespace, so that the compiler drops the functions that nobody calls. The checker
// does not understand all of them.
namespace under_test {
namespace {
#include "api/crossing.cpp"
}
}  // namespace under_test

namespace hierbar::model {
namespace {

ParkingSpot spots[kNumParticipants];
AbortFlag aborted;
std::uint32_t reason;  // written by the participant that aborts
alignas(kLineBytes) unsigned char memory[kNumParticipants * HIERBAR_LINES_PER_SLOT * kLineBytes];

// Sleeps at once, until it is woken.
constexpr WaitPolicy kSleepsAtOnce = {
    /*spin_polls=*/0,       /*pauses_per_poll=*/1, /*yields=*/0,
    /*sleeps=*/true,
    /*longest_sleep_ns=*/1, /*progress=*/nullptr,  /*progress_context=*/nullptr};

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    hierbar_barrier barrier{{Algorithm::kHier},
                            kPlan,
                            kSleepsAtOnce,
                            aborted,
                            spots,
                            memory,
                            Barrier<ApiMem>(kPlan, memory)};
    if (kMe == kNumParticipants - 1) {
      reason = 1;
      under_test::hierbar_barrier_abort(&barrier);
      return;
    }
    MODEL_EXPECT(under_test::hierbar_barrier_wait(&barrier, kMe) == HIERBAR_ABORTED);
    MODEL_EXPECT(reason == 1);
  }
};

}  // namespace
}  // namespace hierbar::model

int main() {
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
