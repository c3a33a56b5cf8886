// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/meeting/meeting_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "base/clock.hpp"

namespace hierbar {
namespace {

constexpr std::uint64_t kLong_ns = 60'000'000'000;

// A board in this process's memory, whose ranks are threads: what ThreadSanitizer can look at.
class TestBoard {
 public:
  TestBoard(std::uint32_t num_ranks, std::uint64_t patience_ns)
      : words_((MeetingMemory::size_bytes(num_ranks) + 63) / 64), board_(words_.data(), num_ranks) {
    board_.make(own_process(), static_cast<std::uint64_t>(monotonic_ns()) + patience_ns);
  }
  const MeetingMemory& operator*() const { return board_; }
  const MeetingMemory* operator->() const { return &board_; }
  std::size_t size_bytes() const { return words_.size() * 64; }
  const void* memory() const { return words_.data(); }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> words_;
  MeetingMemory board_;
};

RankFacts facts_of(std::uint32_t rank) {
  return {{CpuSet::range(rank, rank + 70), rank + 1},
          CpuSet::range(0, MeetingMemory::kMaxCpus - 1)};
}

Verdict never(const std::vector<RankFacts>&) {
  ADD_FAILURE() << "the deadline has passed";
  return Verdict::kNobody;
}

TEST(MeetingMemory, IsToldFromOtherMemory) {
  const TestBoard board(3, kLong_ns);
  EXPECT_EQ(MeetingMemory::num_ranks_in(board.memory(), board.size_bytes()), 3u);
  EXPECT_EQ(MeetingMemory::num_ranks_in(board.memory(), 200), 0u);
  const std::vector<std::uint64_t> zeroes(1000);
  EXPECT_EQ(MeetingMemory::num_ranks_in(zeroes.data(), 8000), 0u);
}

TEST(MeetingMemory, ASlotHasOneOwner) {
  const TestBoard board(2, kLong_ns);
  const ProcessName self = own_process();
  EXPECT_TRUE(board->claim(1, self));
  EXPECT_FALSE(board->claim(1, self));
  EXPECT_TRUE(board->claim(0, self));
  EXPECT_FALSE(board->owner_is_dead(0));
}

// Facts are plain memory: that all see them all is what the verdict promises.
TEST(MeetingMemory, WhenAllHaveComeEverybodySeesAll) {
  constexpr std::uint32_t kRanks = 6;
  for (int round = 0; round < 100; ++round) {
    const TestBoard board(kRanks, kLong_ns);
    std::vector<std::thread> ranks;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      ranks.emplace_back([&, rank] {
        ASSERT_TRUE(board->claim(rank, own_process()));
        board->post(rank, facts_of(rank));
        if (rank == 2) board->publish_machine(4711);
        ASSERT_EQ(board->wait(never), Verdict::kComplete);
        const std::vector<RankFacts> all = board->facts();
        ASSERT_EQ(all.size(), kRanks);
        for (std::uint32_t other = 0; other < kRanks; ++other) {
          ASSERT_EQ(all[other].need.num_threads, other + 1);
          ASSERT_EQ(all[other].need.mask, facts_of(other).need.mask);
          ASSERT_EQ(all[other].pool, facts_of(other).pool);
        }
        ASSERT_EQ(board->image_bytes(), 4711u);
      });
    }
    for (std::thread& rank : ranks) rank.join();
  }
}

// The last rank's step and the deadline meet. What one rank gets, all get.
TEST(MeetingMemory, TheVerdictIsOneWhenTheDeadlineMeetsTheLastRank) {
  constexpr std::uint32_t kRanks = 4;
  int complete = 0;
  constexpr int kRounds = 300;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    const TestBoard board(kRanks, round < kRounds ? round * 10'000 : kLong_ns);  // 0.01 to 3 ms
    std::array<Verdict, kRanks> verdicts{};
    std::vector<std::thread> ranks;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      ranks.emplace_back([&, rank] {
        board->claim(rank, own_process());
        board->post(rank, facts_of(rank));
        if (rank == 0) board->publish_machine(0);
        // Two ranks would decide otherwise: the seal is what counts.
        verdicts[rank] = board->wait([&](const std::vector<RankFacts>&) {
          return rank % 2 == 0 ? Verdict::kNobody : Verdict::kEqualParts;
        });
      });
    }
    for (std::thread& rank : ranks) rank.join();
    for (const Verdict verdict : verdicts) ASSERT_EQ(verdict, verdicts[0]);
    ASSERT_NE(verdicts[0], Verdict::kOpen);
    complete += verdicts[0] == Verdict::kComplete ? 1 : 0;
  }
  EXPECT_GT(complete, 0);
  EXPECT_LT(complete, kRounds);
}

TEST(MeetingMemory, WhoDecidesLateSeesThoseWhoCame) {
  const TestBoard board(3, 0);
  board->claim(2, own_process());
  board->post(2, facts_of(2));
  board->publish_machine(0);
  const Verdict verdict = board->wait([](const std::vector<RankFacts>& present) {
    EXPECT_EQ(present.size(), 1u);
    EXPECT_EQ(present.at(0).need.num_threads, 3u);
    return Verdict::kEqualParts;
  });
  EXPECT_EQ(verdict, Verdict::kEqualParts);
  board->seal(Verdict::kNobody);
  EXPECT_EQ(board->verdict(), Verdict::kEqualParts);
}

// Memory that somebody else has written to says anything; nobody may wait for it, or act on it.
TEST(MeetingMemory, NobodyWaitsForADeadlineThatCannotBe) {
  const TestBoard board(2, MeetingMemory::kMaxPatience_ns + kLong_ns);
  EXPECT_TRUE(board->is_stale());
  EXPECT_EQ(board->wait([](const std::vector<RankFacts>&) { return Verdict::kNobody; }),
            Verdict::kNobody);
}

TEST(MeetingMemory, AVerdictThatIsNoneMeansThatNobodyActs) {
  const TestBoard board(2, kLong_ns);
  board->seal(static_cast<Verdict>(4711));
  EXPECT_EQ(board->verdict(), Verdict::kNobody);
}

TEST(MeetingMemory, KnowsWhetherAllFactsAreThere) {
  const TestBoard board(2, kLong_ns);
  board->post(1, facts_of(1));
  EXPECT_FALSE(board->has_all_facts());
  board->post(0, facts_of(0));
  EXPECT_TRUE(board->has_all_facts());
}

}  // namespace
}  // namespace hierbar
