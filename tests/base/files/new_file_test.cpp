// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/files/new_file.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/support/other_user.hpp"
#include "tests/support/temporary_directory.hpp"

namespace hierbar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string content_of(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool is_regular(const std::string& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// Every write beyond so many bytes fails, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(NewFile, IsThereAsAWholeOrNotAtAll) {
  const test::TemporaryDirectory directory;
  const std::string name = directory / "report.json";
  EXPECT_EQ(write_new_file(name, "first"), "");
  EXPECT_EQ(write_new_file(name, "second"), "");
  EXPECT_EQ(content_of(name), "second");
  {
    const FileSizeLimit limit(1000);
    EXPECT_EQ(write_new_file(name, std::string(100000, 'x')), std::strerror(EFBIG));
  }
  EXPECT_EQ(content_of(name), "second");
  EXPECT_THAT(directory.names(), ElementsAre("report.json"));
}

TEST(NewFile, ThatIsGivenUpLeavesNothing) {
  const test::TemporaryDirectory directory;
  {
    const NewFile file(directory / "profile.json");
    EXPECT_EQ(file.problem(), "");
    EXPECT_EQ(directory.names().size(), 1u);
    EXPECT_NE(directory.names().front(), "profile.json");
  }
  EXPECT_THAT(directory.names(), IsEmpty());
}

TEST(NewFile, HasTheRightsThatTheUserGivesToNewFiles) {
  const test::TemporaryDirectory directory;
  const mode_t mask = umask(027);
  EXPECT_EQ(write_new_file(directory / "a", ""), "");
  umask(mask);
  struct stat status{};
  ASSERT_EQ(stat((directory / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST(NewFile, ReplacesALinkAndDoesNotFollowIt) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "precious") << "of the user";
  const std::string name = directory / "report";
  for (const char* target : {"precious", "nowhere", "report"}) {
    std::filesystem::remove(name);
    std::filesystem::create_symlink(target, name);
    EXPECT_EQ(write_new_file(name, "text"), "") << target;
    EXPECT_TRUE(is_regular(name)) << target;
    EXPECT_EQ(content_of(name), "text") << target;
  }
  EXPECT_EQ(content_of(directory / "precious"), "of the user");
  EXPECT_FALSE(std::filesystem::exists(directory / "nowhere"));
}

TEST(NewFile, UsesNoNameThatOthersCanForesee) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "precious") << "of the user";
  for (const char* ending : {".new", ".tmp", "~", ".XXXXXX"}) {
    std::filesystem::create_symlink("precious", directory / (std::string("report") + ending));
  }
  EXPECT_EQ(write_new_file(directory / "report", "text"), "");
  EXPECT_EQ(content_of(directory / "precious"), "of the user");
  EXPECT_EQ(directory.names().size(), 6u);
}

TEST(NewFile, RefusesWhatIsNoFileWithoutWaitingForIt) {
  const test::TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "directory");
  ASSERT_EQ(mkfifo((directory / "fifo").c_str(), 0666), 0);
  std::filesystem::create_symlink("fifo", directory / "link");
  std::filesystem::create_symlink("/dev/full", directory / "full");
  std::filesystem::create_symlink("/proc/self/fd/1", directory / "stdout");
  const int socket_end = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = ""};
  std::strcpy(address.sun_path, (directory / "socket").c_str());
  ASSERT_EQ(bind(socket_end, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(socket_end);
  const std::size_t num_names = directory.names().size();
  for (const auto& [name, what] : {std::pair("directory", "a directory"),
                                   {"fifo", "a FIFO"},
                                   {"link", "a FIFO"},
                                   {"full", "a device"},
                                   {"socket", "a socket"},
                                   {"stdout", " has that name"}}) {
    EXPECT_THAT(write_new_file(directory / name, "text"), HasSubstr(what)) << name;
    EXPECT_THAT(NewFile(directory / name).problem(), HasSubstr("allowed: a regular file, or a name that is free")) << name;
  }
  EXPECT_EQ(directory.names().size(), num_names);
  EXPECT_NE(write_new_file(directory / "missing/report", "text"), "");
}

TEST(NewFile, DoesNotTakeWhatAnotherUserHasPutThere) {
  if (!test::can_become_others()) GTEST_SKIP() << test::kCannotBecomeOthers;
  const test::TemporaryDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms{01777});
  const int planted = test::run_as(test::kAttacker, [&] {
    std::ofstream(directory / "file") << "planted";
    std::filesystem::permissions(directory / "file", std::filesystem::perms{0666});
    return symlink("precious", (directory / "link").c_str());
  });
  ASSERT_EQ(planted, 0);
  const int wrong = test::run_as(test::kVictim, [&] {
    std::ofstream(directory / "precious") << "of the user";
    const bool refused = write_new_file(directory / "file", "text") == std::strerror(EPERM) &&
                         write_new_file(directory / "link", "text") == std::strerror(EPERM);
    return refused ? 0 : 1;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(content_of(directory / "file"), "planted");
  EXPECT_EQ(content_of(directory / "precious"), "of the user");
  EXPECT_EQ(directory.names().size(), 3u);
}

}  // namespace
}  // namespace hierbar
