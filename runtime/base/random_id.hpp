// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace hierbar {

// A number that nobody else draws, and not 0.
std::uint64_t random_id();

}  // namespace hierbar
