// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One-way operations, on any plan, with rings of two slots: the third operation overwrites what the
// first one brought.

#include "barrier/one_way.hpp"

#include <utility>

#include "model_mem.hpp"
#include "participants.hpp"

// Bit e: operation e + 1 is a reduce, a gather, a scatter; the others are bcasts. Bit e: its root
// is participant 1, else participant 0.
#ifndef MODEL_REDUCES
#define MODEL_REDUCES 0
#endif
#ifndef MODEL_GATHERS
#define MODEL_GATHERS 0
#endif
#ifndef MODEL_SCATTERS
#define MODEL_SCATTERS 0
#endif
#ifndef MODEL_ROOTS
#define MODEL_ROOTS 0
#endif

namespace hierbar::model {
namespace {

using ModelOneWay = OneWay<ModelMem, 2, 2>;

// The lines are less than a page.
alignas(64) unsigned char memory[kPageBytes +
                                 kNumParticipants * whole_pages(sizeof(ModelOneWay::Ring))];

constexpr std::uint64_t value_of(std::uint32_t participant, std::uint32_t episode) noexcept {
  return 10 * episode + 2 * participant + 1;
}
// Another order gives another result.
constexpr std::uint64_t combine(std::uint64_t left, std::uint64_t right) noexcept {
  return 1000 * left + right;
}

struct Fold {
  void operator()(void* out, const void* const* inputs, std::uint32_t num_inputs,
                  std::size_t) const noexcept {
    std::uint64_t result = 0;
    for (std::uint32_t p = 0; p < num_inputs; ++p)
      result = combine(result, *static_cast<const std::uint64_t*>(inputs[p]));
    *static_cast<std::uint64_t*>(out) = result;
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
    const ModelOneWay one_way(kPlan, memory, kFencing);
    (run_episode<kMe, kIndices>(one_way), ...);
  }

  template <std::uint32_t kMe, std::uint32_t kIndex>
  [[gnu::always_inline]] static void run_episode(const ModelOneWay& one_way) noexcept {
    constexpr std::uint32_t kEpisode = kIndex + 1;
    constexpr std::uint32_t kRoot = (MODEL_ROOTS) >> kIndex & 1;
    ModelMem mem(kMe);
    std::uint64_t value = value_of(kMe, kEpisode);
    if constexpr (((MODEL_GATHERS) >> kIndex & 1) != 0) {
      std::uint64_t all[kNumParticipants] = {};
      one_way.gather(mem, kMe, kRoot, &value, all, sizeof(value));
      for (std::uint32_t p = 0; p < kNumParticipants; ++p)
        MODEL_EXPECT(all[p] == (kMe == kRoot ? value_of(p, kEpisode) : 0));
    } else if constexpr (((MODEL_SCATTERS) >> kIndex & 1) != 0) {
      std::uint64_t parts[kNumParticipants];
      for (std::uint32_t p = 0; p < kNumParticipants; ++p) parts[p] = value_of(p, kEpisode);
      value = 0;
      one_way.scatter(mem, kMe, kRoot, parts, &value, sizeof(value));
      MODEL_EXPECT(value == value_of(kMe, kEpisode));
    } else if constexpr (((MODEL_REDUCES) >> kIndex & 1) == 0) {
      const auto bcast = one_way.bcast(mem, kMe, kRoot, &value, sizeof(value));
      MODEL_EXPECT(bcast.bytes == sizeof(value));
      MODEL_EXPECT(value == value_of(kRoot, kEpisode));
    } else {
      one_way.reduce(mem, kMe, kRoot, &value, &value, 1, sizeof(value), Fold{});
      std::uint64_t right = 0;
      for (std::uint32_t p = 0; p < kNumParticipants; ++p)
        right = combine(right, value_of(p, kEpisode));
      MODEL_EXPECT(value == (kMe == kRoot ? right : value_of(kMe, kEpisode)));
    }
  }
};

}  // namespace
}  // namespace hierbar::model

int main() {
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
