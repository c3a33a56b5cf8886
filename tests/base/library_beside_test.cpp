// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/library_beside.hpp"

#include <gmock/gmock.h>
#include <link.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <string>

namespace hierbar {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kSystems = "libm.so.6";  // which every system has
constexpr const char* kNowhere = "libhierbar_nowhere.so.0";

std::string file_of_library(void* library) {
  link_map* map = nullptr;
  return library != nullptr && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

class LibraryBeside : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::absolute("library_beside_" + std::to_string(getpid()));
    fs::create_directories(root_ / "real");
    fs::create_directories(root_ / "links");
    std::ofstream(root_ / "real/own.so");
    fs::create_symlink("../real/own.so", root_ / "links/own.so");
    system_file_ = file_of_library(dlopen(kSystems, RTLD_NOW | RTLD_LOCAL));
    ASSERT_NE(system_file_, "");
  }
  void TearDown() override { fs::remove_all(root_); }

  void add(const std::string& file) { fs::copy_file(system_file_, root_ / file); }
  std::string path(const std::string& file) const { return (root_ / file).string(); }
  std::string opened(const std::string& own, const char* file, const char* name) const {
    return file_of_library(open_library_beside(path(own).c_str(), file, name));
  }
  const std::string& system_file() const { return system_file_; }

 private:
  fs::path root_;
  std::string system_file_;
};

TEST_F(LibraryBeside, IsOpenedWhereTheFileReallyLies) {
  add("real/one.so");
  EXPECT_EQ(opened("real/own.so", "one.so", kNowhere), path("real/one.so"));
  add("links/two.so");
  add("real/two.so");
  EXPECT_EQ(opened("links/own.so", "two.so", kSystems), path("real/two.so"));
}

TEST_F(LibraryBeside, TheLoaderFindsItIfNoneIsThere) {
  add("links/three.so");
  EXPECT_EQ(opened("links/own.so", "three.so", kSystems), system_file());
  EXPECT_EQ(opened("no/such/file.so", "three.so", kSystems), system_file());
  EXPECT_EQ(file_of_library(open_library_beside(nullptr, "three.so", kSystems)), system_file());
  const std::string too_long(PATH_MAX, 'x');
  EXPECT_EQ(opened("real/own.so", too_long.c_str(), kSystems), system_file());
}

// As with LD_LIBRARY_PATH=lib.
TEST_F(LibraryBeside, IsFoundByARelativePathAfterAChangeOfTheDirectory) {
  add("real/loaded.so");
  add("real/five.so");
  const fs::path before = fs::current_path();
  fs::current_path(path(""));
  ASSERT_NE(dlopen("real/loaded.so", RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  fs::current_path("/");
  EXPECT_EQ(file_of_library(open_library_beside("real/loaded.so", "five.so", kNowhere)),
            path("real/five.so"));
  fs::current_path(before);
}

TEST_F(LibraryBeside, TheReasonIsTold) {
  EXPECT_EQ(opened("real/own.so", "none.so", kNowhere), "");
  EXPECT_THAT(dlerror(), HasSubstr(kNowhere));
  // It is there, so no other one takes its place.
  std::ofstream(path("real/four.so")) << "no library\n";
  EXPECT_EQ(opened("real/own.so", "four.so", kSystems), "");
  EXPECT_THAT(dlerror(), HasSubstr(path("real/four.so")));
}

TEST_F(LibraryBeside, AnAddressTellsItsFile) {
  const char* const own = file_with(&kSystems);
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(fs::canonical(own), fs::canonical("/proc/self/exe"));
  EXPECT_EQ(file_with(nullptr), nullptr);
}

}  // namespace
}  // namespace hierbar
