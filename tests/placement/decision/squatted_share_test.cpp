// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shares of ranks that cannot meet, because another program has the name of their meeting.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "placement/meeting/rendezvous.hpp"
#include "tests/placement/decision/own_share_fixture.hpp"
#include "tests/support/other_user.hpp"

namespace hierbar {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class SquattedShare : public test::OwnShare {
 protected:
  // The name, from a rank that is killed while it waits for the other.
  SquattedShare() {
    std::filesystem::permissions(directory_, std::filesystem::perms{01777});
    launch(1, 2);
    const pid_t rank = fork();
    if (rank == 0) {
      ask(*CpuSet::parse("0"), 4);
      _exit(0);
    }
    while (std::filesystem::is_empty(directory_)) usleep(100);
    name_ = std::filesystem::directory_iterator(directory_)->path();
    kill(rank, SIGKILL);
    waitpid(rank, nullptr, 0);
    EXPECT_EQ(sweep_meetings(directory_), 1);
  }
  ~SquattedShare() override { std::filesystem::remove(name_); }

  // What one of two ranks tells its user, who has not asked for more.
  std::vector<std::string> warnings_of(std::uint32_t rank) {
    launch(rank, 2);
    const ShareAnswer answer = ask(*CpuSet::parse("0"), 4);
    EXPECT_FALSE(answer.share.has_value());
    EXPECT_THAT(answer.verdict, StartsWith("no-meeting: "));
    return answer.warnings;
  }

  std::string name_;
};

TEST_F(SquattedShare, TheFirstRankAloneNamesWhatIsThereAndItsOwner) {
  std::filesystem::create_directory(name_);
  EXPECT_THAT(warnings_of(0), testing::ElementsAre(AllOf(
                                  HasSubstr("the directory " + name_ + " of user " + std::to_string(geteuid()) + " has the name"),
                                  HasSubstr("stay on the cpus that they were given"), HasSubstr("HIERBAR_PLACE=off"))));
  EXPECT_THAT(warnings_of(1), testing::IsEmpty());
  std::filesystem::remove(name_);
  std::filesystem::create_symlink("nowhere", name_);
  EXPECT_THAT(warnings_of(0), testing::ElementsAre(HasSubstr("the link " + name_)));
}

TEST_F(SquattedShare, AnotherUsersFileIsNamed) {
  if (!test::can_become_others()) GTEST_SKIP() << test::kCannotBecomeOthers;
  const auto plant = [&] { return close(open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)); };
  ASSERT_EQ(test::run_as(test::kAttacker, plant), 0);
  EXPECT_THAT(warnings_of(0),
              testing::ElementsAre(HasSubstr("the file " + name_ + " of user " + std::to_string(test::kAttacker))));
  EXPECT_THAT(warnings_of(1), testing::IsEmpty());
}

}  // namespace
}  // namespace hierbar
