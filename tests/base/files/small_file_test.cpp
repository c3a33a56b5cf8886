// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/files/small_file.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/files/config_file.hpp"

namespace hierbar {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SmallFiles : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  const std::filesystem::path directory_ = std::filesystem::temp_directory_path() / ("small_file_" + std::to_string(getpid()));
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
  EXPECT_THAT(folder.problem, HasSubstr("no regular file"));
}

TEST_F(SmallFiles, APipeWithoutAWriterDoesNotBlock) {
  const std::string pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(read_small_file(pipe, 10).problem, HasSubstr("no regular file"));
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
