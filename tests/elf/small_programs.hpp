// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_directory.hpp"

namespace hierbar::test {

// Compiles programs and libraries of one function in a directory that goes with the test.
class SmallPrograms : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return directory_ / name; }

  // `options` may name other files by at().
  std::string build(const std::string& name, const std::string& text, const std::string& options) {
    std::filesystem::create_directories(std::filesystem::path(at(name)).parent_path());
    const std::string source = at("source.c");
    std::ofstream(source) << text;
    const std::string command = "cc " + source + " " + options + " -o " + at(name);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return at(name);
  }
  // A library with that file name as SONAME.
  std::string library(const std::string& name, const std::string& options = "") {
    const std::string soname = std::filesystem::path(name).filename();
    return build(name, "int f(void) { return 1; }\n", "-shared -fPIC -Wl,-soname," + soname + " " + options);
  }
  std::string program(const std::string& name, const std::string& options) {
    return build(name, "int f(void);\nint main(void) { return f(); }\n", options);
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace hierbar::test
