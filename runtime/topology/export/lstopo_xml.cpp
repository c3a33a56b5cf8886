// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/export/lstopo_xml.hpp"

#include <iterator>
#include <map>
#include <string_view>

#include "base/files/new_file.hpp"
#include "topology/description.hpp"
#include "topology/export/hwloc_picture.hpp"
#include "topology/hwloc_complaints.hpp"
#include "topology/hwloc_environment.hpp"

namespace hierbar {

Result<PictureTopology> load_for_picture(const std::string& description) {
  const Error failed{"hwloc cannot load the machine"};
  const std::string problem = description.empty() ? "" : description_problem(description);
  if (!problem.empty()) return Error{problem};
  hwloc_topology* raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return failed;
  PictureTopology topology(raw);
  if (!description.empty() && hwloc_topology_set_xml(raw, description.c_str()) != 0 &&
      hwloc_topology_set_synthetic(raw, description.c_str()) != 0) {
    return failed;
  }
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_ALL);
  HwlocComplaints complaints;  // those that the machine's own load has told
  if (hwloc_topology_load(raw) != 0) return failed;
  return topology;
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

std::string write_topology(hwloc_topology* topology, const std::string& path) {
  char* xml = nullptr;
  int size = 0;
  if (hwloc_topology_export_xmlbuffer(topology, &xml, &size, 0) != 0) return "hwloc cannot write the machine as XML";
  // Without the terminating null.
  const std::string problem = write_new_file(path, std::string_view(xml, static_cast<std::size_t>(size) - 1));
  hwloc_free_xmlbuffer(topology, xml);
  return problem.empty() ? "" : "cannot write '" + path + "': " + problem;
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
      if (position->second != mark.group) position->second = ~0U;  // no group has it: stays red
    }
  }
  for (const auto& [cpu, colour] : colours) {
    hwloc_obj* pu = hwloc_get_pu_obj_by_os_index(topology, cpu);
    if (pu != nullptr) hwloc_obj_add_info(pu, "lstopoStyle", (std::string("Background=") + colour).c_str());
  }
}

}  // namespace

std::string write_lstopo_xml(const std::string& path, const std::string& description, const std::vector<MarkedCpus>& marks) {
  const HwlocEnvironment environment;
  const Result<PictureTopology> loaded = load_for_picture(description);
  if (!loaded) return loaded.error();
  const PictureTopology& topology = *loaded;
  for (const MarkedCpus& mark : marks) {
    hwloc_topology_insert_misc_object(topology.get(), smallest_object(topology.get(), mark.cpus), mark.label.c_str());
  }
  colour_cpus(topology.get(), marks);
  return write_topology(topology.get(), path);
}

}  // namespace hierbar
