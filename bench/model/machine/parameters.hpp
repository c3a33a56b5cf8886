// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hierbar::bench::model {

// The distance between two participants: the smallest unit that holds both.
enum class Distance : std::uint8_t {
  kCore,     // SMT siblings
  kCluster,  // a unit inside the domain: a cluster, an L2
  kDomain,   // the same domain of the plan, usually an L3
  kPackage,
  kMachine,
};
inline constexpr std::size_t kNumDistances = 5;
inline constexpr std::array<std::string_view, kNumDistances> kDistanceNames = {"core", "cluster", "domain", "package", "machine"};

// The place where readers of one line queue.
enum class ReadQueue : std::uint8_t {
  kPerDomain,  // an L3 fetches one copy and serves its own cores
  kGlobal,     // all readers fetch from the line's owner
};

// The costs of a machine, in ns unless the comment says otherwise. A latency is what a ping-pong by
// compare-and-swap measures: one way, one exclusive transfer of a line from another core's cache.
struct Parameters {
  std::array<double, kNumDistances> latency{10, 35, 35, 80, 130};
  // A read of a line that another core wrote, as a part of the latency.
  double read = 1;
  // A write of a line of which others have copies, as a part of the latency to the farthest copy.
  double upgrade = 1;
  double invalidate = 2;      // added to that write for each copy
  double occupy_local = 8;    // how long a reader in the line's domain occupies the line
  double occupy_remote = 20;  // how long a reader from another domain occupies the line
  double rmw = 5;             // a read-modify-write of a line that is already there
  double contention = 3.5;    // added to a read-modify-write for each further one that waits
  double outstanding = 8;     // number of loads that miss at the same time
  double store_buffer = 8;    // number of stores in flight at the same time
  double issue = 2;           // an access that hits, or the start of one that misses
  double notice = 20;         // from the loss of a spinning core's copy to its next poll
  double episode = 100;       // the caller's work between two barriers
  // How long a miss occupies a domain's exit, both the reader's and the home's.
  double agent = 6;
  double link = 2;  // how long a miss occupies the link between packages
  ReadQueue read_queue = ReadQueue::kPerDomain;
};

// A parameter by its name in files, with the range in which calibration searches.
struct ParameterInfo {
  std::string_view name;
  double Parameters::* value;  // null: latency[distance]
  Distance distance;
  double lowest;
  double highest;
};
std::span<const ParameterInfo> parameter_infos();

inline double& value_of(Parameters& parameters, const ParameterInfo& info) {
  return info.value != nullptr ? parameters.*info.value : parameters.latency[static_cast<std::size_t>(info.distance)];
}
inline double value_of(const Parameters& parameters, const ParameterInfo& info) {
  return info.value != nullptr ? parameters.*info.value : parameters.latency[static_cast<std::size_t>(info.distance)];
}

}  // namespace hierbar::bench::model
