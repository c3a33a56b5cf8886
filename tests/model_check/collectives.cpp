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
// 0: allreduces; 1: allgathers; 2: alltoalls; 3: reduce_scatters.
#ifndef MODEL_EXCHANGE
#define MODEL_EXCHANGE 0
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
// What a participant brings for another one.
constexpr std::uint64_t brought(std::uint32_t from, std::uint32_t to, std::uint32_t episode,
                                std::size_t i) noexcept {
  return value_of(from, episode, i) + (MODEL_EXCHANGE >= 2 ? 100 * to : 0);
}
constexpr std::uint64_t result_of(std::uint32_t me, std::uint32_t episode, std::size_t i) noexcept {
  std::uint64_t result = 0;
  for (std::uint32_t p = 0; p < kNumParticipants; ++p)
    result = combine(result, brought(p, me, episode, i));
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

  using Values = std::uint64_t[kCount * kNumParticipants];

  template <std::uint32_t kMe>
  [[gnu::always_inline]] static void run_episode(const Collectives<ModelMem>& collectives,
                                                 std::uint32_t episode) noexcept {
    constexpr std::size_t kBytes = kCount * sizeof(std::uint64_t);
    ModelMem mem(kMe);
    Values in, out;
    for (std::uint32_t to = 0; to < kNumParticipants; ++to) {
      for (std::size_t i = 0; i < kCount; ++i) in[to * kCount + i] = brought(kMe, to, episode, i);
    }
    if constexpr (MODEL_EXCHANGE == 0 || MODEL_EXCHANGE == 3) {
      if constexpr (MODEL_EXCHANGE == 0) {
        collectives.allreduce(mem, kMe, in, in, kCount, sizeof(std::uint64_t), Fold{});
      } else {
        collectives.reduce_scatter(mem, kMe, in, in, kCount, sizeof(std::uint64_t), Fold{});
      }
      for (std::size_t i = 0; i < kCount; ++i) MODEL_EXPECT(in[i] == result_of(kMe, episode, i));
      return;
    } else if constexpr (MODEL_EXCHANGE == 1) {
      collectives.allgather(mem, kMe, in, out, kBytes);
    } else {
      collectives.alltoall(mem, kMe, in, out, kBytes);
    }
    for (std::uint32_t from = 0; from < kNumParticipants; ++from) {
      for (std::size_t i = 0; i < kCount; ++i)
        MODEL_EXPECT(out[from * kCount + i] == brought(from, kMe, episode, i));
    }
  }
};

}  // namespace
}  // namespace hierbar::model

int main() {
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
