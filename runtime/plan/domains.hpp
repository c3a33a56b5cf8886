// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <vector>

#include "plan/gather_forest.hpp"
#include "plan/locality.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// Participants whose cores talk to each other cheaply, and the unit that they share.
struct Domain {
  int unit = 0;
  Members members;  // in topology order; participants of one unit by index
};

// The level whose units are domains: `wanted` if given, else L3 where two or more cores share one, else NUMA nodes, else
// packages, else the machine.
Level domain_level(const Machine& machine, std::optional<Level> wanted);

// Puts every participant into one domain: the smallest unit around its binding that is of the domain level and shared by cores.
// Failing that (a wide binding, or a machine of several kinds of cores) it is the smallest unit that cores share, at last the
// machine, which also takes the unbound ones. Domains come in topology order.
std::vector<Domain> partition_into_domains(const Machine& machine, const std::vector<LocalityPath>& paths, Level level);

}  // namespace hierbar
