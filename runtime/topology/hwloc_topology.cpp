// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/hwloc_topology.hpp"

#include "base/trusted_variable.hpp"
#include "topology/machine.hpp"

namespace hierbar {
namespace {

unsigned long load_flags() {
  unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
#if HWLOC_API_VERSION >= 0x00020800
  flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
           HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
#endif
  return flags;
}

// Keeps all objects of the kinds that have a label or a line size, even where they add no
// structure, and no others. hwloc cannot keep groups that add none.
void set_type_filters(hwloc_topology* topology) {
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_L1CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
  for (const TreeObject& object : kTreeObjects)
    hwloc_topology_set_type_filter(topology, object.type, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
}

}  // namespace

HwlocTopology prepare_topology() {
  hwloc_topology* raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  HwlocTopology topology(raw);
  hwloc_topology_set_flags(raw, load_flags());
  set_type_filters(raw);
  return topology;
}

HwlocTopology load_native_topology() {
  HwlocTopology topology = prepare_topology();
  if (topology == nullptr) return nullptr;
  if (trusted_variable("HWLOC_COMPONENTS") == nullptr) {
    hwloc_topology_set_components(topology.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  }
  if (hwloc_topology_load(topology.get()) != 0 || !impossible_cpus(topology.get()).empty())
    return nullptr;
  return topology;
}

std::string impossible_cpus(hwloc_topology* topology) {
  hwloc_const_bitmap_t cpus = hwloc_get_root_obj(topology)->cpuset;
  if (cpus == nullptr || hwloc_bitmap_iszero(cpus)) return "has no cpu";
  const int last = hwloc_bitmap_last(cpus);  // -1: infinite
  if (last >= 0 && last < static_cast<int>(kMaxMachineCpus)) return "";
  return "has cpus of numbers above " + std::to_string(kMaxMachineCpus - 1);
}

CpuSet to_cpu_set(hwloc_const_bitmap_t bitmap) {
  CpuSet set;
  for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0 && cpu < static_cast<int>(kMaxMachineCpus);
       cpu = hwloc_bitmap_next(bitmap, cpu)) {
    set.set(static_cast<std::uint32_t>(cpu));
  }
  return set;
}

}  // namespace hierbar
