// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/config_file.hpp"

#include "base/trusted_variable.hpp"

namespace hierbar {
namespace {

// The XDG specification says to ignore relative paths.
std::string absolute_path(const char* name) {
  const char* value = trusted_variable(name);
  return value != nullptr && *value == '/' ? value : "";
}

}  // namespace

std::string config_file(const std::string& name) {
  std::string directory = absolute_path("XDG_CONFIG_HOME");
  if (directory.empty()) {
    const std::string home = absolute_path("HOME");
    if (home.empty()) return "";
    directory = home + "/.config";
  }
  return directory + "/hierbar/" + name;
}

}  // namespace hierbar
