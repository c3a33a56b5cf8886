// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two participants claim units of a map at the same time. Two units are free: the last of the first
// word and the first of the second. One participant wants both, and takes them in two steps. The
// other wants one, and then another. If the first participant comes too late for the second unit,
// it gives the first unit back. Then the other one must not get the answer that the map is full,
// because of a unit that nobody has. And the two must not get the same unit.
//
// The alignments lead a search to the free units at once, because the checker explores everything
// that each poll may see.
//
// A participant that finds others in its way searches again, MODEL_SEARCHES times in all. Then it
// gives up, and its result says nothing.

#include "mpi/node/segment_allocator.hpp"
#include "participants.hpp"

namespace hierbar::model {

constexpr std::uint32_t kFirstFree = 63;
constexpr std::uint32_t kNumFree = 2;

// If two participants get the same unit, the checker sees a data race here. This is not in the
// namespace below, because the compiler would drop what nobody reads.
std::uint32_t units[kNumFree];

namespace {

constexpr std::uint32_t kNumUnits = kFirstFree + kNumFree;

mpi::SegmentAllocator::Word words[3];
enum class Claim : std::uint8_t { kGot, kFull, kGaveUp };

Claim claim(std::uint32_t count, std::uint32_t alignment, std::uint32_t mark) noexcept {
  const mpi::SegmentAllocator map(words, kNumUnits);
  int searches = 0;
  const auto first = map.claim(count, alignment, [&](int) { return ++searches < MODEL_SEARCHES; });
  if (!first.has_value()) return searches == MODEL_SEARCHES ? Claim::kGaveUp : Claim::kFull;
  for (std::uint32_t i = 0; i < count; ++i) units[*first - kFirstFree + i] = mark;
  return Claim::kGot;
}

Claim of_both;
Claim of_one[2];

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    if (kMe == 0) {
      of_both = claim(2, kFirstFree, 1);
    } else {
      of_one[0] = claim(1, kFirstFree + 1, 2);
      of_one[1] = claim(1, kFirstFree, 3);
    }
  }
};

}  // namespace
}  // namespace hierbar::model

int main() {
  hierbar::model::words[0].store((std::uint64_t{1} << hierbar::model::kFirstFree) - 1,
                                 std::memory_order_relaxed);
  hierbar::model::run_participants<hierbar::model::Participant>();
  using namespace hierbar::model;
  MODEL_EXPECT(of_both == Claim::kGot || (of_one[0] != Claim::kFull && of_one[1] != Claim::kFull));
  return 0;
}
