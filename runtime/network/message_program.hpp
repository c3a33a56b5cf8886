// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

namespace hierbar::network {

// One thing that a process does.
struct Step {
  enum class Do : std::uint8_t { kSend, kReceive, kDelay, kStamp };
  Do what = Do::kStamp;
  std::vector<std::uint32_t> peers;  // kSend: one; kReceive: a message from each, as they come
  std::uint32_t num_bytes = 0;       // kSend
  double delay_us = 0;               // kDelay: the cpu is busy for so long
};
using Program = std::vector<Step>;

}  // namespace hierbar::network
