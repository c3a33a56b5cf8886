// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Meetings whose name somebody else has taken, or whose memory somebody else has written to.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "tests/placement/meeting/rendezvous_fixture.hpp"
#include "tests/support/surroundings.hpp"
#include "topology/export/machine_image.hpp"

namespace hierbar {
namespace {

using test::kLong_ns;
using test::kShort_ns;
using test::Rendezvous;

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
    const Result<Meeting> meeting = meet(
        request, [] { return nullptr; },
        [](const std::vector<RankFacts>&) { return Verdict::kNobody; });
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

// What a rank finds that comes to a meeting whose memory somebody else has written to.
class DamagedMeeting : public Rendezvous {
 protected:
  // Posts facts of rank 1 of three, lets `damage` have the board and its file, and comes as rank 0.
  template <class Damage>
  Result<Meeting> come(Damage damage) {
    const MeetingRequest request{.job_key = "test",
                                 .rank = 1,
                                 .num_ranks = 3,
                                 .patience_ns = kShort_ns,
                                 .directory = directory_};
    std::optional<Result<Meeting>> second;
    // The maker loads the machine when the name is there.
    const auto load = [&]() -> const Machine* {
      const std::string path = directory_ + "/" + names().at(0);
      const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
      void* memory =
          mmap(nullptr, MeetingMemory::size_bytes(3), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      EXPECT_NE(memory, MAP_FAILED);
      damage(MeetingMemory(memory, 3), file);
      MeetingRequest late = request;
      late.rank = 0;
      second.emplace(
          meet(late, [] { return nullptr; }, [](const auto&) { return Verdict::kNobody; }));
      munmap(memory, MeetingMemory::size_bytes(3));
      close(file);
      return nullptr;
    };
    EXPECT_TRUE(meet(request, load, [](const auto&) { return Verdict::kNobody; }).ok() || second);
    return *std::move(second);
  }
};

TEST_F(DamagedMeeting, IsNotCompleteWithoutTheFactsOfAll) {
  const Result<Meeting> meeting =
      come([](const MeetingMemory& board, int) { board.seal(Verdict::kComplete); });
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
