// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/node_barrier.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "tests/support/test_plans.hpp"

namespace {

// What this program has allocated and not freed.
std::size_t num_in_use = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  num_in_use += malloc_usable_size(memory);
  return memory;
}
void operator delete(void* memory) noexcept {
  num_in_use -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace hierbar::mpi {
namespace {

// The barrier of one communicator, as all ranks of a node have it.
class Comm {
 public:
  Comm(const test::TestPlan& plan, std::shared_ptr<NodeSegment> segment)
      : segment_(std::move(segment)) {
    const hierbar_plan made = plan.view();
    std::vector<NodeBarrier::Peer> peers;
    for (std::uint32_t i = 0; i < made.num_participants; ++i)
      peers.push_back({static_cast<int>(3 * i), i});
    const auto num_image_units = static_cast<std::uint32_t>(
        (NodeBarrier::image_bytes(made) + NodeSegment::kUnitBytes - 1) / NodeSegment::kUnitBytes);
    const SegmentAllocator units = segment_->units();
    const std::uint32_t block =
        *units.claim(BarrierBlock::num_units(made), BarrierBlock::alignment(made, 4096));
    const NodeBarrier::Place place{block, *units.claim(num_image_units, 1), num_image_units};
    shared_bytes_ = num_image_units * NodeSegment::kUnitBytes;
    EXPECT_TRUE(segment_->populate(place.image, num_image_units));
    NodeBarrier::write_image(made, peers, segment_->unit(place.image));
    ranks_.reserve(made.num_participants);
    const std::size_t before = num_in_use;
    for (std::uint32_t me = 0; me < made.num_participants; ++me) {
      ranks_.push_back(std::make_unique<NodeBarrier>(
          *ReadPlan::in_place(segment_->unit(place.image), made.num_participants), segment_, place,
          me, Algorithm::kHier, Fencing::kByWriters));
      EXPECT_TRUE(ranks_.back()->block().clear_slot(me));
    }
    ranks_[0]->block().publish(segment_->next_generation());
    own_bytes_ = num_in_use - before;
  }

  const NodeBarrier& rank(std::uint32_t me) const { return *ranks_[me]; }
  // What it takes beside the slots, in all ranks and in the segment.
  std::size_t bytes() const { return own_bytes_ + shared_bytes_; }

 private:
  std::shared_ptr<NodeSegment> segment_;
  std::vector<std::unique_ptr<NodeBarrier>> ranks_;
  std::size_t own_bytes_ = 0;
  std::size_t shared_bytes_ = 0;
};

test::TestPlan trees_of_eight(std::uint32_t num_ranks) {
  return test::make_forest("eights", {std::vector<std::uint32_t>(num_ranks / 8, 8)});
}

std::size_t bytes_per_rank(std::uint32_t num_ranks) {
  const Comm comm(trees_of_eight(num_ranks), *NodeSegment::create_private(num_ranks, 4U << 20));
  return comm.bytes() / num_ranks;
}

// A plan of its own in each rank would take 64 times as much for 512 ranks as for 64.
TEST(NodeBarrier, TheMemoryOfACommunicatorGrowsWithItsRanks) {
  const std::size_t of_few = bytes_per_rank(64);
  for (const std::uint32_t num_ranks : {64U, 256U, 512U}) {
    const std::size_t each = bytes_per_rank(num_ranks);
    std::printf("%u ranks: %zu bytes in each and in the segment, %zu in all\n", num_ranks, each,
                num_ranks * each);
    EXPECT_LE(each, of_few + of_few / 8) << num_ranks << " ranks";
    EXPECT_LE(each, 512U) << num_ranks << " ranks";
  }
}

TEST(NodeBarrier, AllRanksReadOnePlanAndItsPeers) {
  const test::TestPlan plan = trees_of_eight(16);
  const Comm comm(plan, *NodeSegment::create_private(16, 1U << 20));
  for (std::uint32_t me = 0; me < 16; ++me) {
    EXPECT_EQ(comm.rank(me).plan().nodes, comm.rank(0).plan().nodes);
    EXPECT_EQ(comm.rank(me).peers().data(), comm.rank(0).peers().data());
    EXPECT_EQ(comm.rank(me).peers()[me], (NodeBarrier::Peer{static_cast<int>(3 * me), me}));
    EXPECT_EQ(comm.rank(me).plan().nodes[me].parent, plan.view().nodes[me].parent);
  }
}

TEST(NodeBarrier, TheLastToDetachGivesThePlanBackToo) {
  const std::shared_ptr<NodeSegment> segment = *NodeSegment::create_private(8, 1U << 20);
  const Comm comm(trees_of_eight(8), segment);
  const std::uint32_t taken = segment->units().num_taken();
  for (std::uint32_t me = 0; me < 7; ++me) comm.rank(me).detach();
  EXPECT_EQ(segment->units().num_taken(), taken);
  comm.rank(7).detach();
  EXPECT_EQ(segment->units().num_taken(), 0U);
}

}  // namespace
}  // namespace hierbar::mpi
