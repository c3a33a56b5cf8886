// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/export/lstopo_heat.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/text.hpp"
#include "topology/export/hwloc_picture.hpp"
#include "topology/hwloc_environment.hpp"

namespace hierbar {
namespace {

struct Sum {
  std::uint64_t ns = 0;
  std::uint64_t count = 0;

  double mean() const { return count == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(count); }
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

std::map<hwloc_obj*, Heat> find_heat(hwloc_topology* topology, const std::vector<MeasuredCpus>& measured) {
  std::map<hwloc_obj*, Heat> heat;
  for (const MeasuredCpus& one : measured) {
    if (one.count == 0) continue;
    Sum& sum = heat[smallest_object(topology, one.cpus)].steps[one.what];
    sum.ns += one.sum_ns;
    sum.count += one.count;
  }
  return heat;
}

// The colour for `share`: 0 is pale yellow, then orange, 1 is dark red. The text is black or white,
// whichever can be read.
std::string style(double share) {
  constexpr double kStops[3][3] = {{255, 255, 204}, {253, 141, 60}, {128, 0, 38}};
  const int first = share < 0.5 ? 0 : 1;
  const double part = 2 * share - first;
  unsigned colour[3];
  for (int i = 0; i < 3; ++i)
    colour[i] = static_cast<unsigned>(std::lround(kStops[first][i] + part * (kStops[first + 1][i] - kStops[first][i])));
  return format_text("Background=#%02x%02x%02x;Text=#%s", colour[0], colour[1], colour[2], share > 0.7 ? "ffffff" : "000000");
}

void add_info(hwloc_obj* object, const std::string& name, double ns) {
  hwloc_obj_add_info(object, name.c_str(), format_text("%.0f", ns).c_str());
}

}  // namespace

std::string write_heat_xml(const std::string& path, const std::string& description, const std::vector<MeasuredCpus>& measured) {
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
  const double range = std::log(longest) - std::log(shortest);
  for (const auto& [object, of_object] : heat) {
    const double above = std::log(std::max(of_object.ns(), 1.0)) - std::log(shortest);
    hwloc_obj_add_info(object, "lstopoStyle", style(range > 0 ? std::clamp(above / range, 0.0, 1.0) : 0).c_str());
    for (const auto& [what, step] : of_object.steps) add_info(object, "hierbar " + what + " ns", step.mean());
    add_info(object, "hierbar ns", of_object.ns());
  }
  return write_topology(topology.get(), path);
}

}  // namespace hierbar
