// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace hierbar::bench {

// Where --json goes; opened before anything is measured, so that minutes are not measured in vain.
class JsonOutput {
 public:
  explicit JsonOutput(const std::string& path) : path_(path) {
    if (!path_.empty() && path_ != "-") file_.open(path_);
    if (!file_) fail("open");
  }

  void write(const nlohmann::json& report) {
    if (path_.empty()) return;
    std::ostream& stream = path_ == "-" ? std::cout : file_;
    if (!(stream << report.dump(1) << '\n' << std::flush)) fail("write");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw std::runtime_error(fmt::format("cannot {} --json {}: {}", what, path_, std::strerror(errno)));
  }

  std::string path_;
  std::ofstream file_;
};

}  // namespace hierbar::bench
