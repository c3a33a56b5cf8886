// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/quartiles.hpp"
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

// The time in ns in which a line travels one way between two cpus. Two threads write one word in
// turn. The quartiles are over batches of about 100 us, so that a batch in which a thread lost its
// cpu does not count.
struct OneWay {
  // The reader polls with loads and no pause, then stores. So it fetches a copy, then takes the
  // peer's copy away.
  Quartiles store;
  // The same, with as many pauses between two polls as a waiting barrier has.
  Quartiles paused;
  // Both sides poll with compare-and-swap, as published core-to-core latencies do. This is one
  // exclusive transfer.
  Quartiles cas;

  // By stores, with the kind of polling that disturbs the writer less. On an EPYC that was the one
  // with pauses for near cpus; for far ones the two agreed (docs/design/model.md#d0067).
  double best_ns() const { return std::min(store.median, paused.median); }
};

// Takes about 30 ms on an idle machine. The calling thread is one of the two threads. Throws
// std::system_error if the other one cannot be made.
OneWay measure_one_way(std::uint32_t cpu, std::uint32_t other_cpu);

}  // namespace hierbar
