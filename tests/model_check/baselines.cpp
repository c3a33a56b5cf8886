// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole episodes of one of the classic barriers: the class MODEL_BARRIER of the header
// MODEL_HEADER.

#include MODEL_HEADER

#include "model_mem.hpp"
#include "participants.hpp"

namespace hierbar::model {
namespace {

using Subject = MODEL_BARRIER;

constexpr std::uint32_t kLinesPerParticipant = 8;  // enough for all algorithms of four participants
alignas(kLineBytes) unsigned char memory[kNumParticipants * kLinesPerParticipant * kLineBytes];

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    for (std::uint32_t episode = 1; episode <= kNumEpisodes; ++episode) {
      Oracle::write(kMe, episode);
      ModelMem mem(kMe);
      MODEL_EXPECT(Subject(kPlan, memory).cross(mem, kMe) == WaitResult::kReleased);
      Oracle::check(episode);
    }
  }
};

}  // namespace
}  // namespace hierbar::model

int main() {
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
