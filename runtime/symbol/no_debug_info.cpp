// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In place of debug_info.cpp where libdw's headers are missing.

#include "symbol/debug_info.hpp"

namespace hierbar {

void read_debug_info(CodePlace&) {}

void close_debug_files() {}

}  // namespace hierbar
