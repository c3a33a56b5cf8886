// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "base/environment.hpp"

namespace hierbar {

// The path of one of the user's own files: hierbar/NAME in $XDG_CONFIG_HOME, else in ~/.config.
// Empty if neither directory is known.
std::string config_file(const Environment& environment, const std::string& name);

}  // namespace hierbar
