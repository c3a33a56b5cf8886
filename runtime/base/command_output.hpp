// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace hierbar {

// What a shell's command prints on stdout; empty if it cannot be started.
std::string command_output(const std::string& command);

}  // namespace hierbar
