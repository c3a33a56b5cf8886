// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <hwloc.h>

#include <memory>
#include <string>

#include "base/result.hpp"
#include "topology/cpu_set.hpp"

namespace hierbar {

// hwloc's types, for the files that write machines for lstopo. Not to be included from outside of
// runtime/topology.

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
Result<PictureTopology> load_for_picture(const std::string& description);

Bitmap to_bitmap(const CpuSet& cpus);

// The smallest part of the machine that has all these cpus; the machine if there is none.
hwloc_obj* smallest_object(hwloc_topology* topology, const CpuSet& cpus);

// Writes a new file (base/new_file.hpp) in hwloc's XML. Returns what went wrong; empty if nothing
// did.
std::string write_topology(hwloc_topology* topology, const std::string& path);

}  // namespace hierbar
