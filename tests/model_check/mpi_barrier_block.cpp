// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A communicator's block gets new users. Two ranks cross the barrier in it and detach, as they do
// when they free the communicator. A third one claims its units, clears them and uses them for
// something else. No access of the old users may come after that.

#include <new>

#include "mpi/node/barrier_block.hpp"
#include "mpi/node/rank_host.hpp"
#include "participants.hpp"

namespace hierbar::model {
namespace {

constexpr std::uint32_t kNumRanks = 2;
constexpr std::uint32_t kParentsOfRanks[] = {0, 1};
constexpr hierbar_plan_node kNodes[kNumRanks] = {{0, 0, 0, 0, 0, 0}, {1, 0, 0, 1, 0, 0}};
constexpr std::uint32_t kBlockBytes = kNumRanks * HIERBAR_LINES_PER_SLOT * kLineBytes;
constexpr std::uint32_t kNumUnits = kBlockBytes / mpi::NodeSegment::kUnitBytes;
static_assert(kNumUnits * mpi::NodeSegment::kUnitBytes == kBlockBytes);

constexpr hierbar_plan kRanksPlan = {HIERBAR_PLAN_ABI_VERSION,
                                     kNumRanks,
                                     kNumRanks,
                                     /*num_slots=*/kNumRanks,
                                     HIERBAR_RELEASE_FLAGS,
                                     kLineBytes,
                                     /*depth=*/1,
                                     /*is_tuned=*/0,
                                     /*num_crews=*/0,
                                     kNodes,
                                     kParentsOfRanks,
                                     kParentsOfRanks};

alignas(kLineBytes) std::byte memory[kBlockBytes];
mpi::SegmentAllocator::Word taken[2];
std::uint32_t cells[kNumRanks];

// Nobody owns the segment: it is the arrays above, which live as long as the program.
std::shared_ptr<mpi::NodeSegment> segment() noexcept {
  return std::shared_ptr<mpi::NodeSegment>(std::shared_ptr<void>(),
                                           reinterpret_cast<mpi::NodeSegment*>(memory));
}

bool poke(void*) noexcept { return false; }
void on_overdue(void*, long) noexcept {}

void cross_and_detach(std::uint32_t me) noexcept {
  const mpi::BarrierBlock block(segment(), 0, kRanksPlan);
  const Barrier<mpi::RankMem> barrier(kRanksPlan, block.memory());
  mpi::Waiting waiting;
  waiting.spin_polls = 0;
  waiting.polls_between_progress = 0;
  waiting.yields = 0;  // sleeps at once
  const mpi::WaitDuties duties = {poke, on_overdue, nullptr};
  mpi::RankHost host(block, me, waiting, duties);
  mpi::RankMem mem(host);

  cells[me] = 1;
  barrier.cross(mem, me, 0);
  MODEL_EXPECT(cells[1 - me] == 1);
  block.detach();
}

// As the new user's memset() does, but word by word, since the checker wants all accesses to a word
// to have the same size.
template <class Value>
void clear(std::atomic<Value>& word) noexcept {
  *reinterpret_cast<Value*>(&word) = 0;
}

void take_over() noexcept {
  const mpi::SegmentAllocator map(taken, kNumUnits);
  if (!map.claim(kNumUnits, 1).has_value()) return;  // not free yet
  const BarrierMemory<mpi::BarrierBlock::Word> lines(memory, kLineBytes);
  for (std::uint32_t slot = 0; slot < kNumRanks; ++slot) {
    for (auto& lane : lines.edge(slot).arrived) {
      for (auto& word : lane) clear(word);
    }
    clear(lines.own(slot).epoch);
    clear(lines.own(slot).waiting_for);
    auto& host_line = *static_cast<mpi::HostLine*>(lines.host(slot));
    clear(host_line.parked);
    clear(host_line.attached);
    host_line.generation = 0;
  }
}

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    kMe < kNumRanks ? cross_and_detach(kMe) : take_over();
  }
};

}  // namespace
}  // namespace hierbar::model

// The part of the segment that blocks use.
namespace hierbar::mpi {
SegmentAllocator NodeSegment::units() const {
  return SegmentAllocator(model::taken, model::kNumUnits);
}
void* NodeSegment::unit(std::uint32_t index) const { return model::memory + index * kUnitBytes; }
bool NodeSegment::populate(std::uint32_t, std::uint32_t) const { return true; }
}  // namespace hierbar::mpi

int main() {
  hierbar::model::taken[0].store((1U << hierbar::model::kNumUnits) - 1, std::memory_order_relaxed);
  hierbar::mpi::BarrierBlock(hierbar::model::segment(), 0, hierbar::model::kRanksPlan).publish(1);
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
