// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/support/surroundings.hpp"

namespace hierbar::mpi {
namespace {

constexpr std::size_t kBytes = 64 << 10;

bool name_exists(const std::string& name) { return std::filesystem::exists("/dev/shm" + name); }

std::unique_ptr<NodeSegment> create() {
  auto made = NodeSegment::create(2, kBytes);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error());
  return *std::move(made);
}

TEST(NodeSegment, TwoMappingsAreTheSameMemory) {
  const auto mine = create();
  auto other = NodeSegment::join(mine->name(), mine->id(), 2);
  ASSERT_TRUE(other.ok()) << other.error();
  const NodeSegment& theirs = **other;
  const auto first = mine->units().claim(3, 1);
  ASSERT_TRUE(first);
  ASSERT_TRUE(mine->populate(*first, 3));
  std::memset(mine->unit(*first), 0x5A, NodeSegment::kUnitBytes);
  EXPECT_EQ(std::memcmp(theirs.unit(*first), mine->unit(*first), NodeSegment::kUnitBytes), 0);
  EXPECT_EQ(theirs.units().num_taken(), 3u);
  EXPECT_EQ(mine->next_generation(), 1u);
  EXPECT_EQ(theirs.next_generation(), 2u);
  EXPECT_TRUE(theirs.claim_first_to_run_out());
  EXPECT_FALSE(mine->claim_first_to_run_out());
}

TEST(NodeSegment, IsPrivateToItsUser) {
  const auto segment = create();
  struct stat status{};
  ASSERT_EQ(stat(("/dev/shm" + segment->name()).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(status.st_uid, geteuid());
}

TEST(NodeSegment, HasNoNameAfterUnlinkAndCannotBeJoinedThen) {
  const auto segment = create();
  const std::string name = segment->name();
  EXPECT_TRUE(name_exists(name));
  segment->unlink();
  EXPECT_FALSE(name_exists(name));
  EXPECT_FALSE(NodeSegment::join(name, segment->id(), 2).ok());
  std::memset(segment->unit(0), 1, NodeSegment::kUnitBytes);
}

TEST(NodeSegment, LosesItsNameWithItsCreator) {
  const std::string name = create()->name();
  EXPECT_FALSE(name_exists(name));
}

TEST(NodeSegment, AnotherSegmentUnderTheSameNameIsRefused) {
  const auto segment = create();
  EXPECT_FALSE(NodeSegment::join(segment->name(), segment->id() + 1, 2).ok());
  EXPECT_FALSE(NodeSegment::join(segment->name(), segment->id(), 3).ok());
  EXPECT_FALSE(NodeSegment::join("/hierbar-no-such-segment", segment->id(), 2).ok());
  const int file = shm_open(segment->name().c_str(), O_RDWR, 0);
  ASSERT_EQ(ftruncate(file, 100), 0);
  close(file);
  EXPECT_FALSE(NodeSegment::join(segment->name(), segment->id(), 2).ok());
}

TEST(NodeSegment, OfAnotherUserIsRefused) {
  if (!test::can_become_others()) GTEST_SKIP() << test::kCannotBecomeOthers;
  const auto segment = create();
  const std::string path = "/dev/shm" + segment->name();
  ASSERT_EQ(chown(path.c_str(), test::kAttacker, test::kAttacker), 0);
  const auto joined = NodeSegment::join(segment->name(), segment->id(), 2);
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.error(), path + " belongs to another user, or other users may access it");
}

TEST(NodeSegment, ThatOthersMayUseIsRefused) {
  const auto segment = create();
  ASSERT_EQ(chmod(("/dev/shm" + segment->name()).c_str(), 0620), 0);
  EXPECT_FALSE(NodeSegment::join(segment->name(), segment->id(), 2).ok());
}

// What somebody has put there under the name, which is all that a rank learns from its leader.
TEST(NodeSegment, WhatIsNoFileIsRefusedWithoutFollowingItOrWaiting) {
  const std::string name = "/hierbar-test-planted-" + std::to_string(getpid()),
                    path = "/dev/shm" + name;
  const auto segment = create();
  const auto check = [&](const char* what) {
    EXPECT_FALSE(NodeSegment::join(name, segment->id(), 2).ok()) << what;
    std::filesystem::remove(path);
  };
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  check("a FIFO");
  std::filesystem::create_directory(path);
  check("a directory");
  std::filesystem::create_symlink("/dev/shm" + segment->name(), path);
  check("a link");
  std::filesystem::create_symlink("nowhere", path);
  check("a link to nowhere");
}

// A lease holds up whoever opens the file, until its owner gives it back or
// /proc/sys/fs/lease-break-time has passed: 45 s.
TEST(NodeSegment, AnotherUsersLeaseHoldsNobodyUp) {
  if (!test::can_become_others()) GTEST_SKIP() << test::kCannotBecomeOthers;
  const std::string name = "/hierbar-test-leased-" + std::to_string(getpid());
  const test::LeasedFile leased("/dev/shm" + name);
  if (!leased.is_leased()) GTEST_SKIP() << "no leases in /dev/shm here";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(NodeSegment::join(name, 1, 2).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(NodeSegment, MoreThanThereIsIsAnErrorAndLeavesNothing) {
  const auto made = NodeSegment::create(
      2'000'000'000, kBytes);  // their entries alone need more memory than any machine has
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().find("cannot allocate /dev/shm/hierbar-"), std::string::npos)
      << made.error();
  const std::string name = made.error().substr(std::strlen("cannot allocate /dev/shm"));
  EXPECT_FALSE(name_exists(name.substr(0, name.find(':'))));
}

TEST(SweepSegments, IsNotHeldUpByWhatItCannotRemove) {
  const ProcessName self = own_process();
  // The name of a segment whose creator is gone, as far as the name tells.
  const std::string path = "/dev/shm/hierbar-" + std::to_string(geteuid()) + "-" +
                           std::to_string(self.pid_namespace) + "-" + std::to_string(self.pid) +
                           "-1-00000000000000a1";
  std::filesystem::create_directory(path);
  sweep_segments();
  EXPECT_TRUE(std::filesystem::is_directory(path));
  std::filesystem::remove(path);
  const std::string precious = "/dev/shm/hierbar-test-precious-" + std::to_string(getpid());
  std::ofstream(precious) << "of the user";
  std::filesystem::create_symlink(precious, path);
  EXPECT_GE(sweep_segments(), 1);
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  EXPECT_TRUE(std::filesystem::exists(precious));
  std::filesystem::remove(precious);
}

TEST(SweepSegments, TakesWhatTheDeadLeftAndNothingElse) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto made = NodeSegment::create(2, kBytes);
    if (!made.ok()) _exit(1);
    const std::string name = (*made)->name();
    if (write(pipe_ends[1], name.data(), name.size()) < 0) _exit(1);
    _exit(0);  // without its destructor, as if it were killed
  }
  int status = 0;
  waitpid(child, &status, 0);
  char left[256] = "";
  ASSERT_GT(read(pipe_ends[0], left, sizeof(left) - 1), 0);
  ASSERT_TRUE(name_exists(left));
  const auto alive = create();
  const std::string foreign = "/hierbar-test-of-somebody-else-" + std::to_string(getpid());
  close(shm_open(foreign.c_str(), O_CREAT | O_RDWR, 0600));
  EXPECT_GE(sweep_segments(), 1);
  EXPECT_FALSE(name_exists(left));
  EXPECT_TRUE(name_exists(alive->name()));
  EXPECT_TRUE(name_exists(foreign));
  shm_unlink(foreign.c_str());
}

// What a member keeps writing to must not lead another one out of its mapping.
TEST(NodeSegment, KeepsItsPlacesWhenTheHeaderIsOverwritten) {
  const auto mine = create();
  const auto joined = NodeSegment::join(mine->name(), mine->id(), 2);
  ASSERT_TRUE(joined.ok()) << joined.error();
  const NodeSegment& other = **joined;
  void* const unit = other.unit(3);
  const auto claimed = other.units().claim(1, 1);
  ASSERT_TRUE(claimed);
  // Behind magic and id: the numbers of members and of units.
  auto* numbers =
      reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(&mine->member(0)) - 128 + 16);
  ASSERT_EQ(numbers[0], 2U) << "the header is laid out otherwise";
  numbers[0] = 100'000;
  numbers[1] = 0xFFFF'FFFF;
  EXPECT_EQ(other.unit(3), unit);
  EXPECT_EQ(other.num_members(), 2U);
  EXPECT_EQ(other.units().num_taken(), 1U);
  EXPECT_FALSE(other.units().claim(100'000, 1));
}

}  // namespace
}  // namespace hierbar::mpi
