// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

// The level of that name, in upper or lower case; "socket" is another word for package.
std::optional<Level> parse_level(std::string_view name);

// The levels on which a hierarchical barrier can gather, lowest first: those of l2, l3, die, numa
// and package of which two or more allowed cores share a unit. Of levels that divide the allowed
// cores in the same way only one is kept, the first of numa, package, l3, die, l2. Clusters are
// never among them. They shape the tree, but no machine is known on which a level of their own
// pays. (M. G. Kurnosov, Vestnik SibGUTI 16(2), 2022, section 2.1, has l2, l3, numa and package.)
std::vector<Level> active_levels(const Machine& machine);

// The bits (1 << Level) of `levels`, as in Unit::labels.
std::uint32_t label_bits(const std::vector<Level>& levels);

}  // namespace hierbar
