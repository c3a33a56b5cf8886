// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "topology/cpu_set.hpp"

namespace hierbar {

// Decides which rank gets which of the shares that share_out() made, shares[i] being meant for a rank of threads[i] threads. As
// many ranks as possible keep a cpu of their home, which is what they were given at launch: what they have already written to
// memory is near it. The shares themselves stay, so no share becomes worse; ranks swap only with ranks of as many threads.
// Where it makes no difference, the ranks keep their order.
//
// The three vectors are of one length. Returns the share of each rank.
std::vector<CpuSet> assign_shares(const std::vector<CpuSet>& shares, const std::vector<std::uint32_t>& threads,
                                  const std::vector<CpuSet>& homes);

}  // namespace hierbar
