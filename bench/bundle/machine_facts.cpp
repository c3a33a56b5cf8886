// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/bundle/machine_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "bench/common/text.hpp"

namespace hierbar::bench::bundle {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostSizes = 5;

// Empty if the file cannot be read.
std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::uint32_t cores_in(const Machine& machine, const Unit& unit) {
  return machine.one_cpu_per_core(unit.cpus & machine.allowed).count();
}

// What fills the first unit of the level that has two cores or more; 0 if there is none.
std::uint32_t first_unit_size(const Machine& machine, Level level) {
  for (const Unit& unit : machine.units) {
    if (unit.has(level) && cores_in(machine, unit) > 1) return cores_in(machine, unit);
  }
  return 0;
}

}  // namespace

Limits limits_of(const Machine& machine, std::optional<std::uint32_t> quota) {
  return {.num_cores = machine.one_cpu_per_core(machine.allowed).count(),
          .num_allowed = machine.allowed.count(),
          .num_online = machine.present.count(),
          .quota = quota};
}

std::vector<std::uint32_t> team_sizes(const Machine& machine, const Limits& limits) {
  const std::uint32_t most = limits.most_threads();
  if (most < 2) return {};
  std::vector<std::uint32_t> sizes{2, most};
  for (const Level level : active_levels(machine)) {
    const std::uint32_t size = first_unit_size(machine, level);
    if (2 < size && size < most) sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  // The smallest and the largest teams say most; between them the larger ones do.
  if (sizes.size() > kMostSizes)
    sizes.erase(sizes.begin() + 1, sizes.end() - static_cast<std::ptrdiff_t>(kMostSizes - 1));
  return sizes;
}

std::vector<std::string> notes_on(const Limits& limits, double load_average,
                                  const std::string& governor) {
  std::vector<std::string> notes;
  if (limits.most_threads() < 2) {
    notes.push_back(fmt::format(
        "only {} of {} here, so no thread can wait for another: at least two cores are "
        "needed. Look at taskset, the batch system and the control group",
        limits.quota && *limits.quota < limits.num_cores ? "one cpu's worth of time"
                                                         : counted(limits.num_cores, "core"),
        counted(limits.num_online, "cpu")));
    return notes;
  }
  if (limits.num_allowed < limits.num_online) {
    notes.push_back(fmt::format(
        "{} of {} may be used here (taskset, batch system or control group): only these are "
        "measured",
        limits.num_allowed, counted(limits.num_online, "cpu")));
  }
  if (limits.quota && *limits.quota < limits.num_cores) {
    notes.push_back(fmt::format(
        "the control group allows {} cpus' worth of time for {}: larger teams are left out",
        *limits.quota, counted(limits.num_cores, "core")));
  }
  if (load_average > 0.5 && load_average > 0.05 * limits.num_online) {
    notes.push_back(
        fmt::format("the load average is {:.1f} on {}: what others disturb gets no verdict",
                    load_average, counted(limits.num_online, "cpu")));
  }
  if (governor == "powersave" || governor == "conservative")
    notes.push_back(
        fmt::format("the cpus' frequency governor is '{}'; "
                    "'performance' gives steadier figures",
                    governor));
  return notes;
}

ordered_json caches_json(std::uint32_t cpu, const std::string& sys) {
  ordered_json caches = ordered_json::array();
  for (int index = 0;; ++index) {
    const std::string directory =
        fmt::format("{}/devices/system/cpu/cpu{}/cache/index{}/", sys, cpu, index);
    const std::string level = first_line_of(directory + "level");
    if (level.empty()) return caches;
    const Result<CpuSet> sharing = CpuSet::parse(first_line_of(directory + "shared_cpu_list"));
    caches.push_back(
        {{"level", std::atoi(level.c_str())},
         {"type", first_line_of(directory + "type")},
         {"size", first_line_of(directory + "size")},
         {"line_bytes", std::atoi(first_line_of(directory + "coherency_line_size").c_str())},
         {"cpus_sharing", sharing ? sharing->count() : 0}});
  }
}

namespace {

// "Node 0 MemTotal:       16309544 kB", in whole GiB: less could tell one machine from another.
int memory_gib(const std::string& meminfo_path) {
  std::istringstream line(first_line_of(meminfo_path));
  std::string word;
  double kib = 0;
  while (line >> word) {
    if (word == "MemTotal:") line >> kib;
  }
  return static_cast<int>(std::lround(kib / (1 << 20)));
}

}  // namespace

ordered_json numa_json(const std::string& sys) {
  ordered_json nodes = ordered_json::array();
  const std::string directory = sys + "/devices/system/node/";
  const Result<CpuSet> online = CpuSet::parse(first_line_of(directory + "online"));
  if (!online) return nodes;
  for (const std::uint32_t node : *online) {
    const std::string place = fmt::format("{}node{}/", directory, node);
    std::istringstream line(first_line_of(place + "distance"));
    std::vector<int> distances;
    for (int distance = 0; line >> distance;) distances.push_back(distance);
    nodes.push_back({{"node", node},
                     {"cpus", first_line_of(place + "cpulist")},
                     {"memory_gib", memory_gib(place + "meminfo")},
                     {"distances", distances}});
  }
  return nodes;
}

double load_average() {
  double average = 0;
  return getloadavg(&average, 1) == 1 ? average : -1;
}

}  // namespace hierbar::bench::bundle
