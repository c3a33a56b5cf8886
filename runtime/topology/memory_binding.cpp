// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/memory_binding.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "topology/hwloc_guards.hpp"
#include "topology/hwloc_topology.hpp"

namespace hierbar {

struct MemoryBinding::Hwloc {
  HwlocTopology topology;
};

namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Bitmap to_bitmap(const CpuSet& set) {
  Bitmap bitmap(hwloc_bitmap_alloc());
  for (const std::uint32_t number : set) hwloc_bitmap_set(bitmap.get(), number);
  return bitmap;
}

}  // namespace

Result<MemoryBinding> MemoryBinding::load() {
  const HwlocEnvironment environment;
  HwlocComplaints complaints;
  HwlocTopology topology = load_native_topology();
  complaints.take("this machine");  // who loaded the machine before has shown them
  if (topology == nullptr) return Error{"hwloc cannot read this machine's topology"};
  if (hwloc_topology_is_thissystem(topology.get()) == 0)
    return Error{"hwloc's variables describe another machine than this one"};
  return MemoryBinding(std::make_shared<const Hwloc>(std::move(topology)));
}

CpuSet MemoryBinding::all_nodes() const {
  return to_cpu_set(hwloc_topology_get_allowed_nodeset(hwloc_->topology.get()));
}

CpuSet MemoryBinding::nodes_near(const CpuSet& cpus) const {
  const Bitmap near(hwloc_bitmap_alloc());
  hwloc_cpuset_to_nodeset(hwloc_->topology.get(), to_bitmap(cpus).get(), near.get());
  return to_cpu_set(near.get()) & all_nodes();
}

std::string MemoryBinding::bind_this_thread(const CpuSet& nodes) const {
  constexpr int kFlags = HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_STRICT | HWLOC_MEMBIND_BYNODESET;
  const int result =
      hwloc_set_membind(hwloc_->topology.get(), to_bitmap(nodes).get(), HWLOC_MEMBIND_BIND, kFlags);
  return result == 0 ? "" : std::strerror(errno);
}

}  // namespace hierbar
