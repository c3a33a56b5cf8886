// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole episodes of the engine, on any plan: crossings, split episodes, or both in turn.

#include "barrier/barrier.hpp"

#include "model_mem.hpp"
#include "participants.hpp"

namespace hierbar::model {
namespace {

alignas(kLineBytes) unsigned char memory[kNumParticipants * HIERBAR_LINES_PER_SLOT * kLineBytes];
std::uint32_t acted;  // written by participant 0 between gather and release

// Who raises a bit changes from episode to episode, so a bit that is left over from the last one is
// noticed.
constexpr bool raises_bit(std::uint32_t participant, std::uint32_t episode) noexcept {
  return (participant + episode) % kNumParticipants == 0;
}
constexpr std::uint32_t own_bits(std::uint32_t participant, std::uint32_t episode) noexcept {
  return raises_bit(participant, episode) ? 1U << participant : 0;
}
constexpr std::uint32_t all_bits(std::uint32_t episode) noexcept {
  std::uint32_t bits = 0;
  for (std::uint32_t p = 0; p < kNumParticipants; ++p) bits |= own_bits(p, episode);
  return bits;
}

void cross_whole(const Barrier<ModelMem>& barrier, std::uint32_t me,
                 std::uint32_t episode) noexcept {
  ModelMem mem(me);
  MODEL_EXPECT(barrier.cross(mem, me, own_bits(me, episode)).bits == all_bits(episode));
}

void cross_split(const Barrier<ModelMem>& barrier, std::uint32_t me,
                 std::uint32_t episode) noexcept {
  ModelMem mem(me);
  const auto combine = [&](std::uint32_t child) { Oracle::check_one(child, episode); };
  const std::uint32_t gathered = barrier.gather(mem, me, own_bits(me, episode), combine).bits;
  if (me == 0) {
    MODEL_EXPECT(gathered == all_bits(episode));
    Oracle::check(episode);
    acted = episode;
  }
  const std::uint32_t kReleased = 5;
  MODEL_EXPECT(barrier.release(mem, me, me == 0 ? kReleased : 0).bits == kReleased);
  MODEL_EXPECT(acted == episode);
}

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    const Barrier<ModelMem> barrier(kPlan, memory, kFencing);
    for (std::uint32_t episode = 1; episode <= kNumEpisodes; ++episode) {
      Oracle::write(kMe, episode);
      if ((kSplit >> (episode - 1) & 1) != 0) {
        cross_split(barrier, kMe, episode);
      } else {
        cross_whole(barrier, kMe, episode);
      }
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
