// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "service/lstopo_service.h"

#include <exception>
#include <string>
#include <vector>

#include "base/trusted_variable.hpp"
#include "topology/export/lstopo_xml.hpp"
#include "topology/hwloc_opened.hpp"

extern "C" __attribute__((visibility("default"))) int hierbar_write_heat(
    const char* path, const hierbar_measured* measured, uint32_t count, hierbar_line_fn report,
    void* context) try {
  std::vector<hierbar::MeasuredCpus> all;
  for (uint32_t i = 0; i < count; ++i) {
    const hierbar_measured& one = measured[i];
    all.push_back(
        {hierbar::CpuSet(one.cpus.bits, one.cpus.num_words), one.what, one.sum_ns, one.count});
  }
  const char* description = hierbar::trusted_variable("HIERBAR_TOPOLOGY");
  std::string problem = hierbar::open_hwloc();
  if (problem.empty())
    problem = hierbar::write_heat_xml(path, description == nullptr ? "" : description, all);
  if (problem.empty()) return 0;
  report(context, problem.c_str());
  return 1;
} catch (const std::exception& error) {
  report(context, error.what());
  return 1;
}
