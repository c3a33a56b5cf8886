// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the former users of units did to them happens before a claim of these units returns.

#include "mpi/node/segment_allocator.hpp"
#include "participants.hpp"

namespace hierbar::model {
namespace {

// Each participant but the last has one of them.
constexpr std::uint32_t kNumUnits = kNumParticipants - 1;

mpi::SegmentAllocator::Word words[2];
std::uint32_t units[kNumUnits];

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    const mpi::SegmentAllocator map(words, kNumUnits);
    if constexpr (kMe < kNumUnits) {
      units[kMe] = 1;
      map.release(kMe, 1);
    } else if (map.claim(kNumUnits, 1).has_value()) {
      for (std::uint32_t& unit : units) {
        MODEL_EXPECT(unit == 1);
        unit = 2;
      }
    }
  }
};

}  // namespace
}  // namespace hierbar::model

int main() {
  hierbar::model::words[0].store((1U << hierbar::model::kNumUnits) - 1, std::memory_order_relaxed);
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
