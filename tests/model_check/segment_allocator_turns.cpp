// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All claim the same unit, use it and release it. One may find it free, be overtaken by another
// that has it for a while, and then get it. What the other did must then have happened before.

#include "mpi/node/segment_allocator.hpp"
#include "participants.hpp"

namespace hierbar::model {

// The checker sees a race on it. It is not in the namespace below, because the compiler would drop
// what nobody reads.
std::uint32_t unit;

namespace {

mpi::SegmentAllocator::Word words[2];

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    const mpi::SegmentAllocator map(words, 1);
    if (!map.claim(1, 1, [](int) { return false; }).has_value()) return;
    unit = kMe;
    map.release(0, 1);
  }
};

}  // namespace
}  // namespace hierbar::model

int main() {
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
