// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/lstopo_xml.hpp"

#include <iterator>
#include <map>

#include "topology/hwloc_picture.hpp"

namespace hierbar {

PictureTopology load_for_picture(const std::string& description) {
  hwloc_topology* raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  PictureTopology topology(raw);
  if (!description.empty() && hwloc_topology_set_xml(raw, description.c_str()) != 0 &&
      hwloc_topology_set_synthetic(raw, description.c_str()) != 0) {
    return nullptr;
  }
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_ALL);
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

Bitmap to_bitmap(const CpuSet& cpus) {
  Bitmap bitmap(hwloc_bitmap_alloc());
  for (const std::uint32_t cpu : cpus) hwloc_bitmap_set(bitmap.get(), cpu);
  return bitmap;
}

hwloc_obj* smallest_object(hwloc_topology* topology, const CpuSet& cpus) {
  hwloc_obj* object = hwloc_get_obj_covering_cpuset(topology, to_bitmap(cpus).get());
  return object == nullptr ? hwloc_get_root_obj(topology) : object;
}

namespace {

void colour_cpus(hwloc_topology* topology, const std::vector<MarkedCpus>& marks) {
  constexpr const char* kColours[] = {"#7fc97f", "#beaed4", "#fdc086", "#ffff99", "#80b1d3", "#fccde5", "#bf9b7a", "#b3de69"};
  constexpr const char* kSeveral = "#ff5050";
  std::map<std::uint32_t, const char*> colours;
  std::map<std::uint32_t, unsigned> groups;
  for (const MarkedCpus& mark : marks) {
    for (const std::uint32_t cpu : mark.cpus) {
      const auto [position, is_new] = groups.emplace(cpu, mark.group);
      colours[cpu] = position->second == mark.group ? kColours[mark.group % std::size(kColours)] : kSeveral;
      if (position->second != mark.group) position->second = ~0U;  // no group's: stays red
    }
  }
  for (const auto& [cpu, colour] : colours) {
    hwloc_obj* pu = hwloc_get_pu_obj_by_os_index(topology, cpu);
    if (pu != nullptr) hwloc_obj_add_info(pu, "lstopoStyle", (std::string("Background=") + colour).c_str());
  }
}

}  // namespace

std::string write_lstopo_xml(const std::string& path, const std::string& description, const std::vector<MarkedCpus>& marks) {
  const PictureTopology topology = load_for_picture(description);
  if (topology == nullptr) return "hwloc cannot load the machine";
  for (const MarkedCpus& mark : marks) {
    hwloc_topology_insert_misc_object(topology.get(), smallest_object(topology.get(), mark.cpus), mark.label.c_str());
  }
  colour_cpus(topology.get(), marks);
  if (hwloc_topology_export_xml(topology.get(), path.c_str(), 0) != 0) return "cannot write '" + path + "'";
  return "";
}

}  // namespace hierbar
