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

// Pairs of allowed cpus that are equally far apart: the smallest thing that the two share is of the same kind.
struct PairClass {
  std::string name;  // "core" (SMT siblings), "l2", "cluster", "l3", "die", "numa", "package", "machine", "group"
  int distance;      // ascends with the classes
  std::vector<CpuPair> pairs;
};

// The classes of the machine, nearest first, each with at least one pair and at most `most_pairs`, spread over the units of the
// class and, in each, over what is below. Equal machines give equal pairs. Empty with fewer than two allowed cpus.
// O(units + classes x most_pairs), whatever the number of cpu pairs is.
std::vector<PairClass> sample_pairs(const Machine& machine, std::size_t most_pairs);

}  // namespace hierbar
