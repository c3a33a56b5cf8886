// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hierbar::bench::model {

// How far apart two participants are: what the smallest unit is that holds both.
enum class Distance : std::uint8_t {
  kCore,     // SMT siblings
  kCluster,  // a unit inside the domain: a cluster, an L2
  kDomain,   // the same domain of the plan: an L3, usually
  kPackage,
  kMachine,
};
inline constexpr std::size_t kNumDistances = 5;
inline constexpr std::array<std::string_view, kNumDistances> kDistanceNames = {"core", "cluster", "domain", "package", "machine"};

// Who makes the readers of one line wait for each other.
enum class ReadQueue : std::uint8_t {
  kPerDomain,  // an L3 takes one copy and serves its own cores
  kGlobal,     // all go to the line's owner
};

// What a machine costs, in ns unless said otherwise. A latency is what a compare-and-swap ping-pong measures: one way, one
// exclusive transfer of a line from the cache of another core.
struct Parameters {
  std::array<double, kNumDistances> latency{10, 35, 35, 80, 130};
  double read = 1;            // a read of a line that another core wrote, as a part of the latency
  double upgrade = 1;         // a write of a line that others have copies of, as a part of the latency to the farthest copy
  double invalidate = 2;      // that write, for each copy
  double occupy_local = 8;    // the line, for each reader in its domain
  double occupy_remote = 20;  // the line, for each reader from elsewhere
  double rmw = 5;             // a read-modify-write of a line that is already there
  double contention = 3.5;    // a read-modify-write, for each other one that waits for the line
  double outstanding = 8;     // loads that miss at the same time (a number)
  double store_buffer = 8;    // stores under way at the same time (a number)
  double issue = 2;           // an access that hits, or the start of one that misses
  double notice = 20;         // from the moment a spinning core's copy is gone to its next look
  double episode = 100;       // what the caller does between two barriers
  double agent = 6;           // the domain's way out, for each miss: at the reader's and at the home's domain
  double link = 2;            // the link between packages, for each miss that crosses it
  ReadQueue read_queue = ReadQueue::kPerDomain;
};

// A parameter by its name in files, with the range in which calibration looks.
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
