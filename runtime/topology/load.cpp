// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/load.hpp"

#include <hwloc.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/trusted_variable.hpp"
#include "topology/description.hpp"
#include "topology/hwloc_guards.hpp"
#include "topology/hwloc_topology.hpp"
#include "topology/machine.hpp"

namespace hierbar {
namespace {

using Clock = std::chrono::steady_clock;

// Whether the level is found in another way: clusters are groups (labels_of()), NUMA nodes are
// beside the tree (shared_sets()), and the machine is its root.
constexpr bool is_no_tree_object(Level level) {
  return level == Level::kCluster || level == Level::kNuma || level == Level::kMachine;
}
constexpr bool all_levels_are_found() {
  for (int level = 0; level < kNumLevels; ++level) {
    bool found = is_no_tree_object(static_cast<Level>(level));
    for (const TreeObject& object : kTreeObjects)
      found = found || object.level == static_cast<Level>(level);
    if (!found) return false;
  }
  return true;
}
static_assert(all_levels_are_found(), "a level of base/levels.h has no row in kTreeObjects");

// --- 1. From hwloc's objects to plain data

std::uint32_t labels_of(const hwloc_obj& object) {
  for (const TreeObject& known : kTreeObjects)
    if (known.type == object.type) return label_bit(known.level);
  const bool is_cluster = object.type == HWLOC_OBJ_GROUP && object.subtype != nullptr &&
                          strcasecmp(object.subtype, "Cluster") == 0;
  return is_cluster ? label_bit(Level::kCluster) : 0;
}

// hwloc has NUMA nodes beside the tree, as memory children, so they are collected separately.
SharedSets shared_sets(hwloc_topology* topology) {
  SharedSets sets;
  sets.present = to_cpu_set(hwloc_get_root_obj(topology)->cpuset);
  for (int depth = 0; depth < hwloc_topology_get_depth(topology); ++depth) {
    const hwloc_obj_type_t type = hwloc_get_depth_type(topology, depth);
    if (type == HWLOC_OBJ_PU || type == HWLOC_OBJ_L1CACHE) continue;
    for (hwloc_obj* object = nullptr;
         (object = hwloc_get_next_obj_by_depth(topology, depth, object)) != nullptr;) {
      sets.nested.push_back(SharedSet{to_cpu_set(object->cpuset), labels_of(*object)});
    }
  }
  for (hwloc_obj* node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    sets.numa.push_back(to_cpu_set(node->cpuset));
  }
  return sets;
}

// Sets the size of lines and of the L3. Where a cache has no size, hwloc returns 0. Impossible
// lines are ignored.
void measure_caches(hwloc_topology* topology, Machine& machine) {
  std::uint32_t largest_line = 0;
  std::uint32_t impossible_line = 0;
  for (int depth = 0; depth < hwloc_topology_get_depth(topology); ++depth) {
    const hwloc_obj_type_t type = hwloc_get_depth_type(topology, depth);
    if (!hwloc_obj_type_is_cache(type)) continue;
    for (hwloc_obj* cache = nullptr;
         (cache = hwloc_get_next_obj_by_depth(topology, depth, cache)) != nullptr;) {
      const std::uint32_t line = cache->attr->cache.linesize;
      if (line > kMaxLineBytes) {
        impossible_line = line;
      } else {
        largest_line = std::max(largest_line, line);
      }
      if (type != HWLOC_OBJ_L3CACHE) continue;
      machine.l3_bytes =
          std::max(machine.l3_bytes, static_cast<std::uint32_t>(std::min<hwloc_uint64_t>(
                                         cache->attr->cache.size, UINT32_MAX)));
    }
  }
  if (largest_line != 0) machine.line_bytes = largest_line;
  if (impossible_line != 0) {
    machine.warnings.push_back("coherence lines of " + std::to_string(impossible_line) +
                               " bytes are ignored: allowed are up to " +
                               std::to_string(kMaxLineBytes));
  }
}

std::string trimmed(const char* text) {
  const std::string_view view(text);
  const std::size_t first = view.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(view.substr(first, view.find_last_not_of(' ') - first + 1));
}

// The cpu's name if the kernel knows it, else the computer's.
std::string model_name(hwloc_topology* topology) {
  hwloc_obj* root = hwloc_get_root_obj(topology);
  hwloc_obj* package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const std::pair<hwloc_obj*, const char*> places[] = {
      {package, "CPUModel"}, {root, "CPUModel"}, {root, "DMIProductName"}};
  for (const auto& [object, key] : places) {
    const char* value = object != nullptr ? hwloc_obj_get_info_by_name(object, key) : nullptr;
    if (value == nullptr) continue;
    if (std::string name = trimmed(value); !name.empty()) return name;
  }
  return "this machine";
}

Machine to_machine(hwloc_topology* topology, std::string name) {
  Machine machine;
  const SharedSets sets = shared_sets(topology);
  machine.units = build_unit_tree(sets, machine.warnings);
  machine.present = sets.present;
  machine.allowed = to_cpu_set(hwloc_topology_get_allowed_cpuset(topology)) & sets.present;
  machine.name = std::move(name);
  measure_caches(topology, machine);
  return machine;
}

std::uint64_t ns_since(Clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

// --- 2. Descriptions

Result<HwlocTopology> load_file(const std::string& path) {
  HwlocTopology topology = prepare_topology();
  if (topology == nullptr || hwloc_topology_set_xml(topology.get(), path.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    return Error{"'" + path +
                 "' is not an XML file that the installed hwloc can read (it reads those of its "
                 "own and of older versions)"};
  }
  return topology;
}

Result<HwlocTopology> load_synthetic(const std::string& description) {
  HwlocTopology topology = prepare_topology();
  if (topology == nullptr ||
      hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    return Error{"'" + description +
                 "' is neither a file nor a synthetic description that hwloc understands"};
  }
  return topology;
}

// --- 3. The live machine

constexpr std::array<const char*, 5> kSourceVariables = {
    "HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS"};

// The variables that choose hwloc's source, as "NAME='value' ..."; empty if none is set.
std::string source_settings() {
  std::string text;
  for (const char* name : kSourceVariables) {
    const char* value = trusted_variable(name);
    if (value != nullptr) text += std::string(text.empty() ? "" : " ") + name + "='" + value + "'";
  }
  return text;
}

}  // namespace

Result<Machine> load_live_machine() {
  const Clock::time_point start = Clock::now();
  const HwlocEnvironment environment;
  HwlocComplaints complaints;
  HwlocTopology topology = load_native_topology();
  std::vector<std::string> warnings;
  if (const std::string settings = source_settings(); topology == nullptr && !settings.empty()) {
    const MaskedEnvironment masked(kSourceVariables);
    topology = load_native_topology();
    warnings.push_back("hwloc cannot load what " + settings +
                       " asks for; ignored, the live machine is read instead");
  }
  for (std::string& complaint : complaints.take("this machine"))
    warnings.push_back(std::move(complaint));
  if (topology == nullptr) return Error{"hwloc cannot read this machine's topology"};
  Machine machine = to_machine(topology.get(), model_name(topology.get()));
  machine.warnings.insert(machine.warnings.begin(), warnings.begin(), warnings.end());
  machine.load_ns = ns_since(start);
  return machine;
}

Result<Machine> load_described_machine(const std::string& description) {
  const Clock::time_point start = Clock::now();
  const HwlocEnvironment environment;
  const auto refusal = [](const std::string& reason) {
    return Error{reason + "; allowed: " + kAllowedTopologies};
  };
  if (const std::string problem = description_problem(description); !problem.empty())
    return refusal(problem);
  HwlocComplaints complaints;
  Result<HwlocTopology> topology =
      is_file_name(description) ? load_file(description) : load_synthetic(description);
  const std::vector<std::string> doubts = complaints.take("'" + description + "'");
  if (!topology.ok()) return refusal(topology.error());
  if (const std::string problem = impossible_cpus(topology->get()); !problem.empty()) {
    return refusal("'" + description + "' " + problem);
  }
  Machine machine = to_machine(topology->get(), description);
  machine.warnings.insert(machine.warnings.begin(), doubts.begin(), doubts.end());
  machine.load_ns = ns_since(start);
  return machine;
}

Result<Machine> load_machine(const char* setting) {
  if (setting == nullptr || *setting == '\0') return load_live_machine();
  Result<Machine> described = load_described_machine(setting);
  if (described.ok()) return described;
  Result<Machine> live = load_live_machine();
  const std::string broken = "HIERBAR_TOPOLOGY: " + described.error();
  if (!live.ok()) return Error{broken + "; " + live.error()};
  live->warnings.insert(live->warnings.begin(), broken + "; the live machine is used instead");
  return live;
}

}  // namespace hierbar
