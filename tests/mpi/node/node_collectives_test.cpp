// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/node_collectives.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/test_plans.hpp"

namespace hierbar::mpi {
namespace {

constexpr std::uint32_t kRanks = 8;

// The ranks of a communicator on one node, whose collectives have their memory.
class Ranks {
 public:
  explicit Ranks(std::shared_ptr<NodeSegment> segment) : segment_(std::move(segment)) {
    const test::TestPlan plan = test::make_forest("two trees", {{4, 4}});
    const hierbar_plan made = plan.view();
    const std::vector<NodeBarrier::Peer> peers(kRanks);
    const auto image_units =
        static_cast<std::uint32_t>(NodeBarrier::image_bytes(made) / NodeSegment::kUnitBytes + 1);
    const SegmentAllocator units = segment_->units();
    const NodeBarrier::Place place{*units.claim(BarrierBlock::num_units(made), 1),
                                   *units.claim(image_units, 1), image_units};
    EXPECT_TRUE(segment_->populate(place.image, image_units));
    NodeBarrier::write_image(made, peers, segment_->unit(place.image));
    for (std::uint32_t me = 0; me < kRanks; ++me) {
      barriers_.push_back(std::make_unique<NodeBarrier>(
          *ReadPlan::in_place(segment_->unit(place.image), kRanks), segment_, place, me,
          Algorithm::kHier, Fencing::kByWriters));
      EXPECT_TRUE(barriers_.back()->block().clear_slot(me));
    }
    barriers_[0]->block().publish(segment_->next_generation());
    add_part(collectives_);
    add_part(one_way_);
  }

  const NodeBarrier& barrier(std::uint32_t me) const { return *barriers_[me]; }
  const NodeCollectives& collectives(std::uint32_t me) const { return *collectives_[me]; }
  const NodeOneWay& one_way(std::uint32_t me) const { return *one_way_[me]; }

  // Each rank is a thread.
  static void run(const std::function<void(std::uint32_t)>& body) {
    std::vector<std::thread> threads;
    for (std::uint32_t me = 0; me < kRanks; ++me) threads.emplace_back(body, me);
    for (std::thread& thread : threads) thread.join();
  }

 private:
  template <class Part>
  void add_part(std::vector<std::unique_ptr<Part>>& part) {
    const DataPlace place = Part::claim(*barriers_[0]);
    EXPECT_EQ(place.num_units, Part::num_units(barriers_[0]->plan()));
    for (const auto& barrier : barriers_) {
      part.push_back(std::make_unique<Part>(*barrier, place));
      EXPECT_TRUE(part.back()->clear());
    }
  }

  std::shared_ptr<NodeSegment> segment_;
  std::vector<std::unique_ptr<NodeBarrier>> barriers_;
  std::vector<std::unique_ptr<NodeCollectives>> collectives_;
  std::vector<std::unique_ptr<NodeOneWay>> one_way_;
};

const WaitDuties kNoDuties{[](void*) noexcept { return false; }, [](void*, long) noexcept {},
                           nullptr};

void add(void* out, const void* const* inputs, std::uint32_t num_inputs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t sum = 0;
    for (std::uint32_t input = 0; input < num_inputs; ++input)
      sum += static_cast<const std::uint64_t*>(inputs[input])[i];
    std::memcpy(static_cast<std::byte*>(out) + i * sizeof(sum), &sum, sizeof(sum));
  }
}

TEST(NodeCollectives, RanksGetTheSumsInAnyMixtureWithBarriers) {
  const Ranks ranks(*NodeSegment::create_private(kRanks, 4U << 20));
  std::atomic<int> wrong{0};
  Ranks::run([&](std::uint32_t me) {
    const Waiting waiting = Waiting::outnumbered();
    NoTrace trace;
    std::vector<std::uint64_t> values;
    for (std::uint64_t round = 0; round < 40; ++round) {
      if (round % 3 == 1) ranks.barrier(me).cross(waiting, kNoDuties, trace);
      values.assign(1 + 13 * round % 512, me + round);
      ranks.collectives(me).allreduce(waiting, kNoDuties, values.data(), values.data(),
                                      values.size(), sizeof(std::uint64_t), add);
      for (const std::uint64_t value : values) wrong += value != 28 + kRanks * round;
      if (!ranks.collectives(me).has_entered(me)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(NodeCollectives, DataThatGoOneWayComeInAnyMixtureWithTheOthers) {
  const Ranks ranks(*NodeSegment::create_private(kRanks, 4U << 20));
  std::atomic<int> wrong{0};
  Ranks::run([&](std::uint32_t me) {
    const Waiting waiting = Waiting::outnumbered();
    const NodeOneWay& one_way = ranks.one_way(me);
    std::vector<std::uint64_t> values, sums;
    for (std::uint64_t round = 0; round < 60; ++round) {
      const std::uint32_t root = round / 7 % kRanks;
      const std::size_t count = 1 + 13 * round % 512;
      values.assign(count, me == root ? round : 0);
      one_way.bcast(waiting, kNoDuties, root, values.data(), count * sizeof(std::uint64_t));
      if (!one_way.has_entered(me) || !one_way.has_left(me)) ++wrong;
      for (const std::uint64_t value : values) wrong += value != round;
      sums.assign(count, 0);
      one_way.reduce(waiting, kNoDuties, root, values.data(), sums.data(), count,
                     sizeof(std::uint64_t), add);
      for (const std::uint64_t sum : sums) wrong += sum != (me == root ? kRanks * round : 0);
      if (round % 5 == 0) {
        ranks.collectives(me).allreduce(waiting, kNoDuties, values.data(), values.data(), count,
                                        sizeof(std::uint64_t), add);
        for (const std::uint64_t value : values) wrong += value != kRanks * round;
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

// In a bcast nobody waits for who only reads, so a rank may be far behind the root.
TEST(NodeCollectives, WhoHasNotComeToABcastIsKnown) {
  const Ranks ranks(*NodeSegment::create_private(kRanks, 4U << 20));
  std::uint64_t value = 1;
  ranks.one_way(0).bcast(Waiting::outnumbered(), kNoDuties, 0, &value, sizeof(value));
  EXPECT_TRUE(ranks.one_way(0).has_left(0));
  EXPECT_FALSE(ranks.one_way(0).has_entered(3));
  std::uint64_t read = 0;
  ranks.one_way(3).bcast(Waiting::outnumbered(), kNoDuties, 0, &read, sizeof(read));
  EXPECT_EQ(read, 1U);
  EXPECT_TRUE(ranks.one_way(0).has_entered(3));
  EXPECT_TRUE(ranks.one_way(0).has_left(3));
}

TEST(NodeCollectives, TheLastRankThatDetachesGivesAllMemoryBack) {
  const std::shared_ptr<NodeSegment> segment = *NodeSegment::create_private(kRanks, 4U << 20);
  const Ranks ranks(segment);
  EXPECT_GT(segment->units().num_taken(), NodeCollectives::num_units(ranks.barrier(0).plan()));
  std::atomic<int> num_last{0};
  Ranks::run([&](std::uint32_t me) {
    if (!ranks.barrier(me).detach()) return;
    ranks.collectives(me).release();
    ranks.one_way(me).release();
    ++num_last;
  });
  EXPECT_EQ(num_last, 1);
  EXPECT_EQ(segment->units().num_taken(), 0U);
}

TEST(NodeCollectives, AFullSegmentHasNoPlace) {
  const std::shared_ptr<NodeSegment> segment = *NodeSegment::create_private(kRanks, 4U << 20);
  const Ranks ranks(segment);
  for (const std::uint32_t count : {64U, 1U}) {
    while (segment->units().claim(count, 1)) {
    }
  }
  EXPECT_EQ(NodeCollectives::claim(ranks.barrier(0)).num_units, 0U);
  EXPECT_EQ(NodeOneWay::claim(ranks.barrier(0)).num_units, 0U);
}

}  // namespace
}  // namespace hierbar::mpi
