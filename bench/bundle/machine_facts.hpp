// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "topology/machine.hpp"

// What the bench bundle says about the machine beside the tree of `hierbar topo`.
namespace hierbar::bench::bundle {

// What limits the threads that can be measured here.
struct Limits {
  std::uint32_t num_cores = 0;  // with at least one cpu that this process may use
  std::uint32_t num_allowed = 0;
  std::uint32_t num_online = 0;
  std::optional<std::uint32_t> quota;  // cpus' worth of time of the control group

  // Threads that can all run at the same time, each on a core of its own.
  std::uint32_t most_threads() const { return quota ? std::min(*quota, num_cores) : num_cores; }
};
Limits limits_of(const Machine& machine, std::optional<std::uint32_t> quota);

// The sizes of teams to measure, ascending: 2, and what fills one unit of each active level from
// cpu 0 on, and all cores; none above Limits::most_threads(). At most five. Empty if fewer than two
// threads can run at once.
std::vector<std::uint32_t> team_sizes(const Machine& machine, const Limits& limits);

// One line for each thing that makes figures worse or fewer than the machine could give.
// `load_average` is the kernel's of one minute; below 0: unknown.
std::vector<std::string> notes_on(const Limits& limits, double load_average,
                                  const std::string& governor);

// Of the first allowed cpu: level, type, size, and how many cpus share each cache. `sys` is where
// /sys is mounted; tests use another place. Empty if the kernel does not say.
nlohmann::ordered_json caches_json(std::uint32_t cpu, const std::string& sys = "/sys");

// NUMA nodes: their cpus, their memory in GiB, and the kernel's distances to all nodes.
nlohmann::ordered_json numa_json(const std::string& sys = "/sys");

// The load average of one minute; below 0 if the kernel does not say.
double load_average();

}  // namespace hierbar::bench::bundle
