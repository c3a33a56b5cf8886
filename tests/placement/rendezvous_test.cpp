// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/rendezvous.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <new>

#include "support/machines.hpp"
#include "support/random.hpp"

namespace hierbar {
namespace {

constexpr std::uint32_t kMaxRanks = 16;
constexpr std::uint64_t kLong_ns = 60'000'000'000;
constexpr std::uint64_t kShort_ns = 50'000'000;

// What the ranks, which are processes, tell the test.
struct Shared {
  std::atomic<int> loads;
  struct Result {
    std::atomic<int> verdict;  // of Verdict; -1 not yet, -2 an error
    std::atomic<std::uint32_t> num_facts;
    std::atomic<std::uint32_t> sum_of_threads;
    std::atomic<std::size_t> num_units;
  } results[kMaxRanks];
};

class Rendezvous : public testing::Test {
 protected:
  Rendezvous() {
    std::string directory = "/dev/shm/hierbar-test-XXXXXX";
    EXPECT_NE(mkdtemp(directory.data()), nullptr);
    directory_ = directory;
    shared_ = new (mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared;
    forget();
  }
  ~Rendezvous() override {
    std::filesystem::remove_all(directory_);
    munmap(shared_, sizeof(Shared));
  }

  void forget() {
    shared_->loads = 0;
    for (Shared::Result& result : shared_->results) result.verdict = -1;
  }

  // A process that takes part and ends. Its result goes to entry `entry`.
  pid_t start(std::uint32_t rank, std::uint32_t num_ranks, std::uint64_t patience_ns, std::uint32_t entry) {
    const pid_t child = fork();
    if (child != 0) return child;
    MeetingRequest request{
        .job_key = "test", .rank = rank, .num_ranks = num_ranks, .patience_ns = patience_ns, .directory = directory_};
    request.facts = {{CpuSet::range(rank, rank), rank + 1}, CpuSet::range(0, 15)};
    const Machine machine = test::make_kunpeng();
    Result<Meeting> meeting = meet(
        request,
        [&] {
          ++shared_->loads;
          return &machine;
        },
        [](const std::vector<RankFacts>&) { return Verdict::kEqualParts; });
    Shared::Result& result = shared_->results[entry];
    if (meeting) {
      for (const RankFacts& facts : meeting->facts) result.sum_of_threads += facts.need.num_threads;
      result.num_facts = static_cast<std::uint32_t>(meeting->facts.size());
      result.num_units = meeting->machine ? meeting->machine->units.size() : 0;
      if (meeting->is_maker) result.num_units = machine.units.size();
    }
    result.verdict = meeting ? static_cast<int>(meeting->verdict) : -2;
    _exit(0);
  }
  pid_t start(std::uint32_t rank, std::uint32_t num_ranks, std::uint64_t patience_ns) {
    return start(rank, num_ranks, patience_ns, rank);
  }

  static void await(const std::vector<pid_t>& children) {
    for (const pid_t child : children) waitpid(child, nullptr, 0);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) names.push_back(entry.path().filename());
    return names;
  }
  // Looks again and again, so that nothing depends on how long it takes.
  void await_name() const {
    while (names().empty()) usleep(100);
  }
  Verdict verdict(std::uint32_t entry) const { return static_cast<Verdict>(shared_->results[entry].verdict.load()); }

  std::string directory_;
  Shared* shared_;
};

TEST_F(Rendezvous, AllSeeAllAndOneLoadsTheMachine) {
  constexpr std::uint32_t kRanks = 8;
  std::vector<pid_t> ranks;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) ranks.push_back(start(rank, kRanks, kLong_ns));
  await(ranks);
  EXPECT_EQ(shared_->loads, 1);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(verdict(rank), Verdict::kComplete);
    EXPECT_EQ(shared_->results[rank].num_facts, kRanks);
    EXPECT_EQ(shared_->results[rank].sum_of_threads, kRanks * (kRanks + 1) / 2);
    EXPECT_EQ(shared_->results[rank].num_units, test::make_kunpeng().units.size());
  }
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(Rendezvous, WhoIsAloneDecidesAtTheDeadlineAndSoDoesWhoComesLater) {
  await({start(0, 2, kShort_ns)});
  await({start(1, 2, kShort_ns)});
  for (std::uint32_t rank : {0U, 1U}) {
    EXPECT_EQ(verdict(rank), Verdict::kEqualParts);
    EXPECT_EQ(shared_->results[rank].num_facts, 1u);
  }
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(Rendezvous, OneRankMeetsItself) {
  await({start(0, 1, kLong_ns)});
  EXPECT_EQ(verdict(0), Verdict::kComplete);
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(Rendezvous, TwoProcessesOfOneRankStopEverybody) {
  const pid_t first = start(0, 2, kLong_ns, 0);
  await_name();
  const pid_t second = start(0, 2, kLong_ns, 1);
  await({first, second});
  EXPECT_EQ(verdict(0), Verdict::kDuplicate);
  EXPECT_EQ(verdict(1), Verdict::kDuplicate);
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(Rendezvous, RanksThatDisagreeOnTheirNumberDoNotMeet) {
  const pid_t first = start(0, 2, kShort_ns * 4, 0);
  await_name();
  const pid_t second = start(1, 3, kShort_ns * 4, 1);
  await({first, second});
  EXPECT_EQ(shared_->results[1].verdict, -2);
  EXPECT_EQ(verdict(0), Verdict::kEqualParts);
}

TEST_F(Rendezvous, AKilledRankHangsNobodyAndLeavesNothing) {
  constexpr std::uint32_t kRanks = 4;
  test::Random random(20261121);
  int complete = 0;
  for (int round = 0; round < 40; ++round) {
    forget();
    std::vector<pid_t> ranks;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) ranks.push_back(start(rank, kRanks, kShort_ns));
    const std::uint32_t victim = random.below(kRanks);
    usleep(random.below(1500));  // some moment of the meeting
    kill(ranks[victim], SIGKILL);
    await(ranks);
    std::uint32_t first = kMaxRanks;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      if (rank == victim) continue;
      if (first == kMaxRanks) first = rank;
      ASSERT_GE(shared_->results[rank].verdict, 0) << "round " << round;
      ASSERT_EQ(verdict(rank), verdict(first)) << "round " << round;
    }
    complete += verdict(first) == Verdict::kComplete ? 1 : 0;
    ASSERT_THAT(names(), testing::IsEmpty()) << "round " << round;
  }
  RecordProperty("complete_meetings", complete);
}

TEST_F(Rendezvous, WhatAKilledJobLeavesIsReplacedByTheNext) {
  const std::vector<pid_t> killed = {start(0, 3, kLong_ns), start(1, 3, kLong_ns)};
  await_name();
  for (const pid_t child : killed) kill(child, SIGKILL);
  await(killed);
  ASSERT_EQ(names().size(), 1u);
  forget();
  await({start(0, 3, kLong_ns), start(1, 3, kLong_ns), start(2, 3, kLong_ns)});
  for (std::uint32_t rank = 0; rank < 3; ++rank) EXPECT_EQ(verdict(rank), Verdict::kComplete);
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(Rendezvous, SweepingLeavesTheLivingAlone) {
  const pid_t alive = start(0, 2, kLong_ns);
  await_name();
  EXPECT_EQ(sweep_meetings(directory_), 0);
  kill(alive, SIGKILL);
  await({alive});
  EXPECT_EQ(sweep_meetings(directory_), 1);
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(Rendezvous, ADirectoryThatCannotHoldItIsAnError) {
  MeetingRequest request{.job_key = "test", .num_ranks = 2, .directory = directory_ + "/missing"};
  const Result<Meeting> meeting =
      meet(request, [] { return nullptr; }, [](const std::vector<RankFacts>&) { return Verdict::kNobody; });
  ASSERT_FALSE(meeting.ok());
  EXPECT_THAT(meeting.error(), testing::HasSubstr("/missing"));
}

}  // namespace
}  // namespace hierbar
