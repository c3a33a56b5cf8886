// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Episodes that carry data, on any plan. Data are plain, so the checker reports a race where words
// do not order them.

#include "barrier/collectives.hpp"

#include <utility>

#include "model_mem.hpp"
#include "participants.hpp"

#ifndef MODEL_COUNT
#define MODEL_COUNT 1
#endif

namespace hierbar::model {
namespace {

constexpr std::size_t kCount = MODEL_COUNT;  // of elements that a participant brings

constexpr std::size_t kPageBytes = CollectiveMemory<ModelMem::Word>::kRegionBytes;
constexpr std::size_t kSlotBytes = CollectiveMemory<ModelMem::Word>::kSlotBytes;
// The lines are less than a page.
alignas(64) unsigned char memory[kPageBytes + kNumParticipants * kSlotBytes];

constexpr std::uint64_t value_of(std::uint32_t participant, std::uint32_t episode,
                                 std::size_t i) noexcept {
  return 10 * episode + 2 * participant + i + 1;
}
// Another order gives another result.
constexpr std::uint64_t combine(std::uint64_t left, std::uint64_t right) noexcept {
  return 1000 * left + right;
}
constexpr std::uint64_t result_of(std::uint32_t episode, std::size_t i) noexcept {
  std::uint64_t result = 0;
  for (std::uint32_t p = 0; p < kNumParticipants; ++p)
    result = combine(result, value_of(p, episode, i));
  return result;
}

struct Fold {
  void operator()(void* out, const void* const* inputs, std::uint32_t num_inputs,
                  std::size_t count) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t result = 0;
      for (std::uint32_t p = 0; p < num_inputs; ++p)
        result = combine(result, static_cast<const std::uint64_t*>(inputs[p])[i]);
      static_cast<std::uint64_t*>(out)[i] = result;
    }
  }
};

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    run_episodes<kMe>(std::make_integer_sequence<std::uint32_t, kNumEpisodes>());
  }

 private:
  // Not a loop: the compiler would leave it as it is, and the checker take it for a wait.
  template <std::uint32_t kMe, std::uint32_t... kIndices>
  static void run_episodes(std::integer_sequence<std::uint32_t, kIndices...>) {
    const Collectives<ModelMem> collectives(kPlan, memory, kFencing);
    (run_episode<kMe>(collectives, kIndices + 1), ...);
  }

  template <std::uint32_t kMe>
  [[gnu::always_inline]] static void run_episode(const Collectives<ModelMem>& collectives,
                                                 std::uint32_t episode) noexcept {
    ModelMem mem(kMe);
    std::uint64_t values[kCount];
    for (std::size_t i = 0; i < kCount; ++i) values[i] = value_of(kMe, episode, i);
    collectives.allreduce(mem, kMe, values, values, kCount, sizeof(std::uint64_t), Fold{});
    for (std::size_t i = 0; i < kCount; ++i) MODEL_EXPECT(values[i] == result_of(episode, i));
  }
};

}  // namespace
}  // namespace hierbar::model

int main() {
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
