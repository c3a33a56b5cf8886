// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/files/remove_name.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "tests/support/temporary_directory.hpp"

namespace {
std::function<void()> after_lstat;  // called once
}  // namespace

// Takes the place of the C library's for this program, so that something happens between a look at
// a name and what is done to it.
extern "C" int lstat(const char* path, struct stat* status) noexcept {
  const int result = fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
  if (after_lstat) std::exchange(after_lstat, nullptr)();
  return result;
}

namespace hierbar {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RemoveName : public testing::Test {
 protected:
  // A new file of that name, in the place of what had it.
  int make(const std::string& name) {
    const std::string path = directory_ / name;
    unlink(path.c_str());
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    EXPECT_GE(descriptor, 0);
    return descriptor;
  }
  bool is_name_of(const std::string& name, int descriptor) const {
    struct stat named{}, file{};
    return stat((directory_ / name).c_str(), &named) == 0 && fstat(descriptor, &file) == 0 && named.st_ino == file.st_ino;
  }

  const test::TemporaryDirectory directory_;
};

TEST_F(RemoveName, RemovesTheNameOfTheFile) {
  const int file = make("board");
  remove_name(directory_ / "board", file);
  EXPECT_THAT(directory_.names(), IsEmpty());
  close(file);
}

TEST_F(RemoveName, LeavesANameThatAnotherFileHas) {
  const int file = make("board"), next = make("board");
  remove_name(directory_ / "board", file);
  EXPECT_TRUE(is_name_of("board", next));
  EXPECT_THAT(directory_.names(), ElementsAre("board"));
  close(file);
  close(next);
}

TEST_F(RemoveName, GivesTheNameBackToAFileThatGotItInTheLastMoment) {
  const int file = make("board");
  int next = -1;
  after_lstat = [&] { next = make("board"); };
  remove_name(directory_ / "board", file);
  EXPECT_TRUE(is_name_of("board", next));
  EXPECT_THAT(directory_.names(), ElementsAre("board"));
  close(file);
  close(next);
}

TEST_F(RemoveName, TakesTheNameFromNobodyToGiveItBack) {
  const int file = make("board");
  int next = -1, third = -1;
  after_lstat = [&] {
    next = make("board");
    after_lstat = [&] { third = make("board"); };  // while the name of `next` is aside
  };
  remove_name(directory_ / "board", file);
  EXPECT_TRUE(is_name_of("board", third));
  EXPECT_THAT(directory_.names(), ElementsAre("board"));
  close(file);
  close(next);
  close(third);
}

}  // namespace
}  // namespace hierbar
