// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "tests/support/surroundings.hpp"

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
    EXPECT_THAT(NewFile(directory / name).problem(),
                HasSubstr("allowed: a regular file, or a name that is free"))
        << name;
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
    return stat((directory_ / name).c_str(), &named) == 0 && fstat(descriptor, &file) == 0 &&
           named.st_ino == file.st_ino;
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

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SmallFiles : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  const std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() / ("small_file_" + std::to_string(getpid()));
};

TEST_F(SmallFiles, AreReadAsAWhole) {
  const std::string text(5000, 'x');
  std::ofstream(directory_ / "a") << text;
  const SmallFile file = read_small_file(directory_ / "a", 5000);
  EXPECT_THAT(file.problem, IsEmpty());
  EXPECT_EQ(file.text, text);
}

TEST_F(SmallFiles, WhatIsTooLargeIsRefused) {
  std::ofstream(directory_ / "a") << std::string(2049, 'x');
  const SmallFile file = read_small_file(directory_ / "a", 2048);
  EXPECT_THAT(file.problem, HasSubstr("larger than 2 KiB"));
  EXPECT_THAT(file.text, IsEmpty());
  EXPECT_FALSE(file.is_missing);
}

TEST_F(SmallFiles, WhatIsMissingIsToldFromWhatCannotBeRead) {
  EXPECT_TRUE(read_small_file(directory_ / "nothing", 10).is_missing);
  EXPECT_TRUE(read_small_file(directory_ / "nothing" / "there", 10).is_missing);
  const SmallFile folder = read_small_file(directory_, 10);
  EXPECT_FALSE(folder.is_missing);
  EXPECT_THAT(folder.problem, HasSubstr("not a regular file"));
}

TEST_F(SmallFiles, APipeWithoutAWriterDoesNotBlock) {
  const std::string pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(read_small_file(pipe, 10).problem, HasSubstr("not a regular file"));
}

TEST_F(SmallFiles, AWholeFileMayBeOfTheKernelsOrHaveAnySize) {
  const std::string large(10'000, 'x');
  std::ofstream(directory_ / "large") << large << '\0' << "end";
  EXPECT_EQ(read_whole_file(directory_ / "large"), large + '\0' + "end");
  EXPECT_THAT(read_whole_file("/proc/self/stat").value_or(""),
              testing::StartsWith(std::to_string(getpid()) + " ("));
  EXPECT_EQ(read_whole_file(directory_), "") << "opened, but nothing can be read";
  EXPECT_EQ(read_whole_file(directory_ / "nothing"), std::nullopt);
}

TEST(ConfigFile, IsInTheUsersDirectory) {
  std::map<std::string, std::string> variables{{"HOME", "/home/a"}, {"XDG_CONFIG_HOME", "/config"}};
  const Environment environment = [&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  EXPECT_EQ(config_file(environment, "x.json"), "/config/hierbar/x.json");
  variables["XDG_CONFIG_HOME"] = "relative";
  EXPECT_EQ(config_file(environment, "x.json"), "/home/a/.config/hierbar/x.json");
  variables.erase("HOME");
  EXPECT_THAT(config_file(environment, "x.json"), IsEmpty());
}

}  // namespace
}  // namespace hierbar
