// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <vector>

#include "plan/gather_forest.hpp"
#include "plan/locality.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// Participants between whose cores a line transfer is cheap, and the unit that they share.
struct Domain {
  int unit = 0;
  Members members;  // in topology order; participants of one unit by index
};

// The level whose units are the domains. It is `wanted`, if given; else L3, if several cores share
// one; else NUMA node; else package; else the machine. NUMA node and package only if the machine is
// larger than one of them.
Level domain_level(const Machine& machine, std::optional<Level> wanted);

// Puts every participant into one domain: the smallest unit around its binding that has the domain
// level and is shared by cores. If there is none (a wide binding, or a machine with several kinds
// of cores), it is the smallest unit that cores share, and at last the machine, which also takes
// the unbound ones. Domains are in topology order.
std::vector<Domain> partition_into_domains(const Machine& machine, const std::vector<LocalityPath>& paths, Level level);

}  // namespace hierbar
