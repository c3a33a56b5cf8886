// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two participants claim units of a map with two free ones at the same time, the last of the first word and the first of the
// second. One wants both, which it takes in two steps. The other wants one, and then another. Where the first one comes too late
// for the second unit, it gives the first one back. Then the other may not be told that the map is full, because of a unit that
// nobody has. Nor may the two get the same unit.
//
// The alignments are those that lead a search to the free units at once: the checker explores what every look may see.
//
// Who finds others in its way searches again, MODEL_SEARCHES times in all, and then gives up, which says nothing.

#include "mpi/unit_map.hpp"
#include "threads.hpp"

namespace hierbar::model {

constexpr std::uint32_t kFirstFree = 63;
constexpr std::uint32_t kNumFree = 2;

// A unit that two participants have is a data race. Not in the namespace below, or the compiler would drop what nobody reads.
std::uint32_t units[kNumFree];

namespace {

constexpr std::uint32_t kNumUnits = kFirstFree + kNumFree;

mpi::UnitMap::Word words[3];
enum class Claim : std::uint8_t { kGot, kFull, kGaveUp };

Claim claim(std::uint32_t count, std::uint32_t alignment, std::uint32_t mark) noexcept {
  const mpi::UnitMap map(words, kNumUnits);
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
  hierbar::model::words[0].store((std::uint64_t{1} << hierbar::model::kFirstFree) - 1, std::memory_order_relaxed);
  hierbar::model::run_participants<hierbar::model::Participant>();
  using namespace hierbar::model;
  MODEL_EXPECT(of_both == Claim::kGot || (of_one[0] != Claim::kFull && of_one[1] != Claim::kFull));
  return 0;
}
