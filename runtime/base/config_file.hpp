// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace hierbar {

// The path of one of the user's own files: hierbar/NAME in $XDG_CONFIG_HOME, else in ~/.config. Empty
// if neither directory is known. In a program with more rights than its user it is always empty.
std::string config_file(const std::string& name);

}  // namespace hierbar
