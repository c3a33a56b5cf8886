// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "topology/machine.hpp"

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
inline constexpr std::array<std::string_view, kNumDistances> kDistanceNames = {
    "core", "cluster", "domain", "package", "machine"};

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
  return info.value != nullptr ? parameters.*info.value
                               : parameters.latency[static_cast<std::size_t>(info.distance)];
}
inline double value_of(const Parameters& parameters, const ParameterInfo& info) {
  return info.value != nullptr ? parameters.*info.value
                               : parameters.latency[static_cast<std::size_t>(info.distance)];
}

// The place of a participant. Two participants have the same number if they share the unit.
struct Place {
  std::uint32_t core;
  // The largest unit inside the domain that several cores share. If there is none, the core's
  // number.
  std::uint32_t cluster;
  std::uint32_t domain;
  std::uint32_t package;
};

// The places of all participants. Domains and packages are numbered from 0.
class Places {
 public:
  // Errors: a participant is not bound to a single core.
  static Result<Places> make(const Machine& machine, const std::vector<CpuSet>& bindings);

  std::uint32_t count() const { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t num_domains() const {
    return static_cast<std::uint32_t>(package_of_domain_.size());
  }
  const Place& operator[](std::uint32_t participant) const { return places_[participant]; }
  std::uint32_t package_of(std::uint32_t domain) const { return package_of_domain_[domain]; }

  Distance between(std::uint32_t a, std::uint32_t b) const {
    const Place& left = places_[a];
    const Place& right = places_[b];
    if (left.core == right.core) return Distance::kCore;
    if (left.cluster == right.cluster) return Distance::kCluster;
    if (left.domain == right.domain) return Distance::kDomain;
    return left.package == right.package ? Distance::kPackage : Distance::kMachine;
  }
  Distance between_domains(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return Distance::kDomain;
    return package_of_domain_[a] == package_of_domain_[b] ? Distance::kPackage : Distance::kMachine;
  }

 private:
  std::vector<Place> places_;
  std::vector<std::uint32_t> package_of_domain_;
};

// By distance, in ns. Empty if the matrix has no such pair.
using LatencyMedians = std::array<std::optional<double>, kNumDistances>;

// Reads a matrix in CSV, and returns the medians by distance. Row i belongs to cpu i of the
// machine. Fields may be empty: one triangle is enough. Errors: the file cannot be read; there are
// fewer than two rows; the machine lacks the cpu of a row; a field is not a latency; a row is
// longer than the number of rows.
Result<LatencyMedians> read_latency_matrix(const std::string& path, const Machine& machine);

}  // namespace hierbar::bench::model
