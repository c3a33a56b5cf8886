// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/files/config_file.hpp"

namespace hierbar {
namespace {

// The XDG specification says to ignore relative paths.
std::string absolute_path(const Environment& environment, const char* name) {
  const std::string value = value_of(environment, name);
  return value.starts_with('/') ? value : "";
}

}  // namespace

std::string config_file(const Environment& environment, const std::string& name) {
  std::string directory = absolute_path(environment, "XDG_CONFIG_HOME");
  if (directory.empty()) {
    const std::string home = absolute_path(environment, "HOME");
    if (home.empty()) return "";
    directory = home + "/.config";
  }
  return directory + "/hierbar/" + name;
}

}  // namespace hierbar
