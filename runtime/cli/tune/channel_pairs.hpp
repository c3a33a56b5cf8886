// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "network/workers.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// The channels of a node that `hierbar tune --between-nodes --contention` measures, in the order of
// network::kChannelKinds, and the network as the last one. Each is the first of its kind that has
// pairs: its pairs are of different cores, no core is in two of them, and the two cpus of a pair
// have this channel between them. A kind that the machine lacks is left out: without a second NUMA
// node in a package there is nothing across.
std::vector<network::WorkerChannel> channels_of(const Machine& machine);

}  // namespace hierbar
