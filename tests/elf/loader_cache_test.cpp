// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elf/loader_cache.hpp"

#include <gmock/gmock.h>

#include <string>

#include "base/command_output.hpp"
#include "base/files/small_file.hpp"

namespace hierbar {
namespace {

using testing::HasSubstr;

std::string bytes_of_this_machine() { return read_small_file("/etc/ld.so.cache", 64U << 20).text; }

TEST(LoaderCache, SaysWhatLdconfigSays) {
  const std::string listed = command_output("PATH=\"$PATH:/sbin:/usr/sbin\" exec ldconfig -p 2>/dev/null");
  const std::string bytes = bytes_of_this_machine();
  if (listed.empty() || bytes.empty()) GTEST_SKIP() << "this machine has no ldconfig or no /etc/ld.so.cache";
  const auto files = parse_loader_cache(bytes);
  ASSERT_TRUE(files);
  EXPECT_EQ(files->count("libc.so.6"), 1U);
  for (const auto& [name, path] : *files) {
    EXPECT_THAT(listed, HasSubstr("\t" + name + " (")) << name;
    EXPECT_THAT(listed, HasSubstr(" => " + path + "\n")) << name;
  }
}

TEST(LoaderCache, SaysNothingForDamagedBytes) {
  std::string bytes = bytes_of_this_machine();
  if (bytes.empty()) GTEST_SKIP() << "this machine has no /etc/ld.so.cache";
  EXPECT_FALSE(parse_loader_cache(""));
  EXPECT_FALSE(parse_loader_cache("ld.so-1.7.0"));
  EXPECT_FALSE(parse_loader_cache(std::string_view(bytes).substr(0, 200)));
  EXPECT_FALSE(parse_loader_cache(std::string_view(bytes).substr(0, bytes.size() / 2)));
  bytes[0] = 'x';
  EXPECT_FALSE(parse_loader_cache(bytes));
}

}  // namespace
}  // namespace hierbar
