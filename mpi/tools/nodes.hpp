// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "network/measure.hpp"

namespace hierbar::mpi {

struct NodesOptions {
  bool ranks_as_nodes = false;  // for trying it on one machine
  bool oversubscribed = false;  // measure although ranks outnumber cpus
};

// One rank on each node, which takes part in the measurement.
struct Nodes {
  std::vector<int> ranks;
  std::vector<network::NodeAddress> addresses;
  std::string refusal;  // why nothing can be measured; empty if it can
  std::string note;     // what an option has allowed and makes the figures doubtful; may be empty
};

// Collective. Where the ranks are; the result is rank 0's, and empty elsewhere.
//
// A node is a host name. On a machine (a boot of one kernel, which several hosts of a test may
// share) ranks must not outnumber the cpus that they may use: the overheads would be the
// scheduler's time slices.
Nodes find_nodes(MPI_Comm comm, const NodesOptions& options);

}  // namespace hierbar::mpi
