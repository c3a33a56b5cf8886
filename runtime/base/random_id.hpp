// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace hierbar {

// A random number that is not 0. That two processes draw the same one is next to impossible.
std::uint64_t random_id();

}  // namespace hierbar
