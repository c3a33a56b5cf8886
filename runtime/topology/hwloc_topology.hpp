// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <hwloc.h>

#include <memory>
#include <string>

#include "topology/cpu_set.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// hwloc's topologies with what this project needs of them, for the files of this folder.

// Which object of hwloc's tree each level is. Whoever asks for kinds of objects goes through this
// table.
struct TreeObject {
  hwloc_obj_type_t type;
  Level level;
};
inline constexpr TreeObject kTreeObjects[] = {
    {HWLOC_OBJ_CORE, Level::kCore},       {HWLOC_OBJ_L2CACHE, Level::kL2},
    {HWLOC_OBJ_L3CACHE, Level::kL3},      {HWLOC_OBJ_DIE, Level::kDie},
    {HWLOC_OBJ_PACKAGE, Level::kPackage},
};

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

// A topology that needs only a source. Null if out of memory.
HwlocTopology prepare_topology();

// The machine on which this process runs, or what hwloc's variables say. Null on failure.
HwlocTopology load_native_topology();

// What hwloc's parser accepts and no machine has; empty if there is nothing of that kind.
std::string impossible_cpus(hwloc_topology* topology);

// The numbers up to the highest that a machine may have: a bitmap may be infinite.
CpuSet to_cpu_set(hwloc_const_bitmap_t bitmap);

}  // namespace hierbar
