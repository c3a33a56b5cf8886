// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/export/lstopo_xml.hpp"

#include <hwloc.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "topology/cpu_set.hpp"
#include "topology/description.hpp"
#include "topology/hwloc_guards.hpp"

namespace hierbar {

namespace {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using PictureTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

// Loads a machine with everything that a picture shows, unlike what barriers load. `description` as
// for load_described_machine(); empty: this machine. Errors: as there, in fewer words.
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

// The smallest part of the machine that has all these cpus; the machine if there is none.
hwloc_obj* smallest_object(hwloc_topology* topology, const CpuSet& cpus) {
  hwloc_obj* object = hwloc_get_obj_covering_cpuset(topology, to_bitmap(cpus).get());
  return object == nullptr ? hwloc_get_root_obj(topology) : object;
}

// Writes a new file in hwloc's XML. Returns what went wrong; empty if nothing did.
std::string write_topology(hwloc_topology* topology, const std::string& path) {
  char* xml = nullptr;
  int size = 0;
  if (hwloc_topology_export_xmlbuffer(topology, &xml, &size, 0) != 0)
    return "hwloc cannot write the machine as XML";
  // Without the terminating null.
  const std::string problem =
      write_new_file(path, std::string_view(xml, static_cast<std::size_t>(size) - 1));
  hwloc_free_xmlbuffer(topology, xml);
  return problem.empty() ? "" : "cannot write '" + path + "': " + problem;
}

void colour_cpus(hwloc_topology* topology, const std::vector<MarkedCpus>& marks) {
  constexpr const char* kColours[] = {"#7fc97f", "#beaed4", "#fdc086", "#ffff99",
                                      "#80b1d3", "#fccde5", "#bf9b7a", "#b3de69"};
  constexpr const char* kSeveral = "#ff5050";
  std::map<std::uint32_t, const char*> colours;
  std::map<std::uint32_t, unsigned> groups;
  for (const MarkedCpus& mark : marks) {
    for (const std::uint32_t cpu : mark.cpus) {
      const auto [position, is_new] = groups.emplace(cpu, mark.group);
      colours[cpu] =
          position->second == mark.group ? kColours[mark.group % std::size(kColours)] : kSeveral;
      if (position->second != mark.group) position->second = ~0U;  // no group has it: stays red
    }
  }
  for (const auto& [cpu, colour] : colours) {
    hwloc_obj* pu = hwloc_get_pu_obj_by_os_index(topology, cpu);
    if (pu != nullptr)
      hwloc_obj_add_info(pu, "lstopoStyle", (std::string("Background=") + colour).c_str());
  }
}

}  // namespace

std::string write_lstopo_xml(const std::string& path, const std::string& description,
                             const std::vector<MarkedCpus>& marks) {
  const HwlocEnvironment environment;
  const Result<PictureTopology> loaded = load_for_picture(description);
  if (!loaded) return loaded.error();
  const PictureTopology& topology = *loaded;
  for (const MarkedCpus& mark : marks) {
    hwloc_topology_insert_misc_object(topology.get(), smallest_object(topology.get(), mark.cpus),
                                      mark.label.c_str());
  }
  colour_cpus(topology.get(), marks);
  return write_topology(topology.get(), path);
}

namespace {

struct Sum {
  std::uint64_t ns = 0;
  std::uint64_t count = 0;

  double mean() const {
    return count == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(count);
  }
};

// What was measured in one part of the machine, by step.
struct Heat {
  std::map<std::string, Sum> steps;

  double ns() const {
    double sum = 0;
    for (const auto& [what, step] : steps) sum += step.mean();
    return sum;
  }
};

std::map<hwloc_obj*, Heat> find_heat(hwloc_topology* topology,
                                     const std::vector<MeasuredCpus>& measured) {
  std::map<hwloc_obj*, Heat> heat;
  for (const MeasuredCpus& one : measured) {
    if (one.count == 0) continue;
    Sum& sum = heat[smallest_object(topology, one.cpus)].steps[one.what];
    sum.ns += one.sum_ns;
    sum.count += one.count;
  }
  return heat;
}

// The binary logarithm of a number from 1, within 1e-6. The C library's would have libhierbar.so
// bring libm into every C program, for pictures that are seldom asked for.
double logarithm(double number) {
  double result = 0;
  for (; number >= 2; number /= 2) ++result;
  for (double digit = 0.5; digit > 5e-7; digit /= 2) {
    number *= number;
    if (number < 2) continue;
    number /= 2;
    result += digit;
  }
  return result;
}

// The colour for `share`: 0 is pale yellow, then orange, 1 is dark red. The text is black or white,
// whichever can be read.
std::string style(double share) {
  constexpr double kStops[3][3] = {{255, 255, 204}, {253, 141, 60}, {128, 0, 38}};
  const int first = share < 0.5 ? 0 : 1;
  const double part = 2 * share - first;
  unsigned colour[3];
  for (int i = 0; i < 3; ++i)
    colour[i] = static_cast<unsigned>(kStops[first][i] +
                                      part * (kStops[first + 1][i] - kStops[first][i]) + 0.5);
  return format_text("Background=#%02x%02x%02x;Text=#%s", colour[0], colour[1], colour[2],
                     share > 0.7 ? "ffffff" : "000000");
}

void add_info(hwloc_obj* object, const std::string& name, double ns) {
  hwloc_obj_add_info(object, name.c_str(), format_text("%.0f", ns).c_str());
}

}  // namespace

std::string write_heat_xml(const std::string& path, const std::string& description,
                           const std::vector<MeasuredCpus>& measured) {
  const HwlocEnvironment environment;
  const Result<PictureTopology> loaded = load_for_picture(description);
  if (!loaded) return loaded.error();
  const PictureTopology& topology = *loaded;
  const std::map<hwloc_obj*, Heat> heat = find_heat(topology.get(), measured);
  double shortest = std::numeric_limits<double>::max(), longest = 1;
  for (const auto& [object, of_object] : heat) {
    shortest = std::min(shortest, std::max(of_object.ns(), 1.0));
    longest = std::max(longest, of_object.ns());
  }
  const double range = logarithm(longest) - logarithm(shortest);
  for (const auto& [object, of_object] : heat) {
    const double above = logarithm(std::max(of_object.ns(), 1.0)) - logarithm(shortest);
    hwloc_obj_add_info(object, "lstopoStyle",
                       style(range > 0 ? std::clamp(above / range, 0.0, 1.0) : 0).c_str());
    for (const auto& [what, step] : of_object.steps)
      add_info(object, "hierbar " + what + " ns", step.mean());
    add_info(object, "hierbar ns", of_object.ns());
  }
  return write_topology(topology.get(), path);
}

}  // namespace hierbar
