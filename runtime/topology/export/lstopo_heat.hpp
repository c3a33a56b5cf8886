// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/cpu_set.hpp"

namespace hierbar {

// Durations that were measured between threads on these cpus.
struct MeasuredCpus {
  CpuSet cpus;
  std::string what;  // a step: "gather", "release", "exchange"
  std::uint64_t sum_ns = 0;
  std::uint64_t count = 0;
};

// Writes a machine as an hwloc XML file for `lstopo --input FILE`. A measurement belongs to the
// smallest part of the machine that has all its cpus. That part gets an info "hierbar WHAT ns" with
// the mean for each step, "hierbar ns" with the sum of these, and a colour for that sum, from pale
// yellow for the shortest to dark red for the longest of the machine, on a logarithmic scale.
// `description` as in write_lstopo_xml(). Returns what went wrong; empty if nothing did.
std::string write_heat_xml(const std::string& path, const std::string& description, const std::vector<MeasuredCpus>& measured);

}  // namespace hierbar
