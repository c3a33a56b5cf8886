// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "topology/cpu_set.hpp"

namespace hierbar {

// Decides which rank gets which of the shares that share_out() has made. shares[i] was cut for a
// rank of threads[i] threads. homes[i] is what rank i was given at launch.
//
// As many ranks as possible keep a cpu of their home, because the memory to which they have written
// already is near it. The shares themselves do not change, so no share becomes worse. Ranks swap
// only with ranks of as many threads. Where it makes no difference, ranks keep their order
// (docs/design/placement.md#d0048).
//
// The three vectors have the same length. Returns the share of each rank.
std::vector<CpuSet> assign_shares(const std::vector<CpuSet>& shares, const std::vector<std::uint32_t>& threads,
                                  const std::vector<CpuSet>& homes);

}  // namespace hierbar
