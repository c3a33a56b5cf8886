// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/meeting/rendezvous.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>

#include "bench/common/random.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/other_user.hpp"
#include "topology/export/machine_image.hpp"

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

  void take_part(std::uint32_t rank, std::uint32_t num_ranks, std::uint64_t patience_ns, Shared::Result& result) const {
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
    if (meeting) {
      for (const RankFacts& facts : meeting->facts) result.sum_of_threads += facts.need.num_threads;
      result.num_facts = static_cast<std::uint32_t>(meeting->facts.size());
      result.num_units = meeting->machine ? meeting->machine->units.size() : 0;
      if (meeting->is_maker) result.num_units = machine.units.size();
    }
    result.verdict = meeting ? static_cast<int>(meeting->verdict) : -2;
  }

  // A process that takes part and ends. Its result goes to entry `entry`.
  pid_t start(std::uint32_t rank, std::uint32_t num_ranks, std::uint64_t patience_ns, std::uint32_t entry) {
    const pid_t child = fork();
    if (child != 0) return child;
    try {
      take_part(rank, num_ranks, patience_ns, shared_->results[entry]);
    } catch (...) {  // the result stays -1, and nothing of the test runs twice
    }
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

class KilledRendezvous : public Rendezvous {
 protected:
  static constexpr std::uint32_t kRanks = 4;

  // Ranks meet, and the victim is killed after that time. Returns what is wrong; empty: nothing.
  std::string meet_and_kill(std::uint32_t victim, useconds_t after_us, std::uint64_t patience_ns) {
    forget();
    std::vector<pid_t> ranks;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) ranks.push_back(start(rank, kRanks, patience_ns));
    usleep(after_us);
    kill(ranks[victim], SIGKILL);
    await(ranks);
    const std::uint32_t first = victim == 0 ? 1 : 0;
    for (std::uint32_t rank = first; rank < kRanks; ++rank) {
      if (rank == victim) continue;
      if (shared_->results[rank].verdict < 0) return "rank " + std::to_string(rank) + " has no verdict";
      if (verdict(rank) != verdict(first)) return "ranks " + std::to_string(first) + " and " + std::to_string(rank) + " disagree";
    }
    complete_ += verdict(first) == Verdict::kComplete ? 1 : 0;
    return names().empty() ? "" : names().front() + " is left";
  }

  int complete_ = 0;
};

TEST_F(KilledRendezvous, HangsNobodyAndLeavesNothing) {
  test::Random random(20261121);
  for (int round = 0; round < 40; ++round) {
    const std::uint32_t victim = random.below(kRanks);
    const useconds_t after_us = random.below(1500);  // some moment of the meeting
    std::string problem = meet_and_kill(victim, after_us, kShort_ns);
    // On a loaded machine a rank may come after the deadline, when the others have met without it.
    // Then it rightly meets alone, and the round shows nothing.
    if (!problem.empty()) {
      std::filesystem::remove_all(directory_);
      std::filesystem::create_directory(directory_);
      problem = meet_and_kill(victim, after_us, 100 * kShort_ns);
    }
    ASSERT_EQ(problem, "") << "round " << round;
  }
  RecordProperty("complete_meetings", complete_);
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

// The name of the meeting can be foreseen, and anybody may have made something of that name before.
class SquattedRendezvous : public Rendezvous {
 protected:
  SquattedRendezvous() {
    std::filesystem::permissions(directory_, std::filesystem::perms{01777});
    const pid_t first = start(0, 2, kLong_ns);
    await_name();
    name_ = directory_ + "/" + names().front();
    kill(first, SIGKILL);
    await({first});
    EXPECT_EQ(sweep_meetings(directory_), 1);
  }

  // What comes of a meeting while the other's work is there.
  void check(const std::string& what) const {
    const auto start = std::chrono::steady_clock::now();
    MeetingRequest request{.job_key = "test", .num_ranks = 2, .directory = directory_};
    const Result<Meeting> meeting =
        meet(request, [] { return nullptr; }, [](const std::vector<RankFacts>&) { return Verdict::kNobody; });
    ASSERT_FALSE(meeting.ok()) << what;
    EXPECT_THAT(meeting.error(), testing::HasSubstr("cannot use shared memory " + name_)) << what;
    EXPECT_EQ(sweep_meetings(directory_), 0) << what;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << what;
    EXPECT_EQ(names().size(), 1u) << what;
  }

  std::string name_;
};

TEST_F(SquattedRendezvous, ByWhatIsNoFileEndsAtOnce) {
  ASSERT_EQ(mkfifo(name_.c_str(), 0666), 0);
  check("a FIFO");
  std::filesystem::remove(name_);
  std::filesystem::create_directory(name_);
  check("a directory");
  std::filesystem::remove(name_);
  std::filesystem::create_symlink("nowhere", name_);
  check("a link");
}

TEST_F(SquattedRendezvous, ByAnotherUsersFileEndsAtOnceAndLeavesItAlone) {
  if (!test::can_become_others()) GTEST_SKIP() << test::kCannotBecomeOthers;
  const std::string text(4096, 'x');
  const auto plant = [&] {
    std::ofstream(name_) << text;
    return chmod(name_.c_str(), 0666);
  };
  ASSERT_EQ(test::run_as(test::kAttacker, plant), 0);
  check("a file");
  std::ifstream file(name_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST_F(SquattedRendezvous, ByAnotherUsersLeaseEndsAtOnce) {
  if (!test::can_become_others()) GTEST_SKIP() << test::kCannotBecomeOthers;
  const test::LeasedFile leased(name_);
  if (!leased.is_leased()) GTEST_SKIP() << "no leases in /dev/shm here";
  check("a leased file");
}

TEST_F(Rendezvous, ADirectoryThatCannotHoldItIsAnError) {
  MeetingRequest request{.job_key = "test", .num_ranks = 2, .directory = directory_ + "/missing"};
  const Result<Meeting> meeting =
      meet(request, [] { return nullptr; }, [](const std::vector<RankFacts>&) { return Verdict::kNobody; });
  ASSERT_FALSE(meeting.ok());
  EXPECT_THAT(meeting.error(), testing::HasSubstr("/missing"));
}

// What a rank finds that comes to a meeting whose memory somebody else has written to.
class DamagedMeeting : public Rendezvous {
 protected:
  // Posts facts of rank 1 of three, lets `damage` have the board and its file, and comes as rank 0.
  template <class Damage>
  Result<Meeting> come(Damage damage) {
    const MeetingRequest request{.job_key = "test", .rank = 1, .num_ranks = 3, .patience_ns = kShort_ns, .directory = directory_};
    std::optional<Result<Meeting>> second;
    // The maker loads the machine when the name is there.
    const auto load = [&]() -> const Machine* {
      const std::string path = directory_ + "/" + names().at(0);
      const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
      void* memory = mmap(nullptr, MeetingMemory::size_bytes(3), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      EXPECT_NE(memory, MAP_FAILED);
      damage(MeetingMemory(memory, 3), file);
      MeetingRequest late = request;
      late.rank = 0;
      second.emplace(meet(late, [] { return nullptr; }, [](const auto&) { return Verdict::kNobody; }));
      munmap(memory, MeetingMemory::size_bytes(3));
      close(file);
      return nullptr;
    };
    EXPECT_TRUE(meet(request, load, [](const auto&) { return Verdict::kNobody; }).ok() || second);
    return *std::move(second);
  }
};

TEST_F(DamagedMeeting, IsNotCompleteWithoutTheFactsOfAll) {
  const Result<Meeting> meeting = come([](const MeetingMemory& board, int) { board.seal(Verdict::kComplete); });
  ASSERT_FALSE(meeting.ok());
  EXPECT_THAT(meeting.error(), testing::HasSubstr("damaged"));
}

TEST_F(DamagedMeeting, HasNoMachineWhereTheFileHoldsLessThanItSays) {
  const Result<Meeting> meeting = come([](const MeetingMemory& board, int) {
    board.publish_machine(0xFFFF'FFF0U);
    board.seal(Verdict::kEqualParts);
  });
  ASSERT_TRUE(meeting.ok());
  EXPECT_FALSE(meeting->machine.has_value());
}

TEST_F(DamagedMeeting, HasNoMachineOfHalfAWord) {
  const Result<Meeting> meeting = come([](const MeetingMemory& board, int file) {
    const std::vector<std::uint32_t> image = machine_image(test::make_hybrid());
    const auto bytes = static_cast<std::uint32_t>(image.size() * sizeof image[0]);
    const auto offset = static_cast<off_t>((MeetingMemory::size_bytes(3) + 4095) / 4096 * 4096);
    EXPECT_EQ(pwrite(file, image.data(), bytes, offset), static_cast<ssize_t>(bytes));
    EXPECT_EQ(ftruncate(file, offset + bytes + 1), 0);
    board.publish_machine(bytes + 1);
    board.seal(Verdict::kEqualParts);
  });
  ASSERT_TRUE(meeting.ok());
  EXPECT_FALSE(meeting->machine.has_value());
}

}  // namespace
}  // namespace hierbar
