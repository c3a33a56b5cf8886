// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/cpu_set.hpp"

namespace hierbar {

// Something that runs on the machine, for a picture.
struct MarkedCpus {
  std::string label;  // "rank 0 thread 1"
  unsigned group;     // all marks of a group have the same colour
  CpuSet cpus;
};

// Writes a machine as an hwloc XML file for `lstopo --input FILE`. Each mark is a Misc object below
// the smallest part of the machine that has all its cpus. Each marked cpu has its group's colour,
// or red if it has marks of several groups. `description` names the machine as for
// load_described_machine(); empty: this one. Returns what went wrong; empty if nothing did.
std::string write_lstopo_xml(const std::string& path, const std::string& description,
                             const std::vector<MarkedCpus>& marks);

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
std::string write_heat_xml(const std::string& path, const std::string& description,
                           const std::vector<MeasuredCpus>& measured);

}  // namespace hierbar
