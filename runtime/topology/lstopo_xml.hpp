// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "topology/cpu_set.hpp"

namespace hierbar {

// Something that runs on the machine, for a picture of it.
struct MarkedCpus {
  std::string label;  // "rank 0 thread 1"
  unsigned group;     // those of a group have one colour
  CpuSet cpus;
};

// Writes a machine as an hwloc XML file for `lstopo --input FILE`: each mark is a Misc object below the smallest part of the
// machine that has all its cpus, and each marked cpu has its group's colour, red if it has marks of several. `description` names
// the machine as in load_described_machine(); empty: this one. Returns what went wrong; empty if nothing did.
std::string write_lstopo_xml(const std::string& path, const std::string& description, const std::vector<MarkedCpus>& marks);

}  // namespace hierbar
