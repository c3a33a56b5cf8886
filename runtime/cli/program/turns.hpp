// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace hierbar {

// Which of `num_all` comes at `turn` of a round, all from 0. Each round goes in the other direction
// than the one before, so that what changes on the machine meanwhile hits all alike.
constexpr std::size_t in_turns(std::size_t round, std::size_t turn, std::size_t num_all) {
  return round % 2 == 0 ? turn : num_all - 1 - turn;
}

}  // namespace hierbar
