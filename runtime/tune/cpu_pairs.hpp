// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

using CpuPair = std::pair<std::uint32_t, std::uint32_t>;

// Pairs of allowed cpus with the same distance: the smallest unit that the two cpus share is of the
// same kind.
struct PairClass {
  // "core" (SMT siblings), "l2", "cluster", "l3", "die", "numa", "package", "machine", or "group"
  // for a unit without labels.
  std::string name;
  int distance;  // ascends with the classes
  std::vector<CpuPair> pairs;
};

// The classes of the machine, nearest first. Each has at least one pair and at most `most_pairs`. A
// class's pairs are spread over its units and, in each unit, over its parts. Equal machines give
// equal pairs. Empty if fewer than two cpus are allowed. Takes O(units + classes x most_pairs),
// however many pairs of cpus there are.
std::vector<PairClass> sample_pairs(const Machine& machine, std::size_t most_pairs);

}  // namespace hierbar
