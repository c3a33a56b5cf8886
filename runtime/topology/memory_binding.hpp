// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "topology/cpu_set.hpp"

namespace hierbar {

// Binds the memory of threads to the NUMA nodes near some cpus of this machine.
class MemoryBinding {
 public:
  // Errors: hwloc cannot read this machine; its variables describe another one, whose memory nobody
  // can use.
  static Result<MemoryBinding> load();

  // The operating system's numbers of the nodes that have memory for this process.
  CpuSet all_nodes() const;
  // Those of them that hwloc counts as local to one of the cpus. A machine may have several kinds
  // of memory near the same cpus.
  CpuSet nodes_near(const CpuSet& cpus) const;

  // From now on the memory of the calling thread, and of the threads and programs that it starts,
  // comes from these nodes only, also if it is exhausted there. Returns why the kernel refuses;
  // empty if it does not. A child may call it after fork().
  std::string bind_this_thread(const CpuSet& nodes) const;

 private:
  struct Hwloc;
  explicit MemoryBinding(std::shared_ptr<const Hwloc> hwloc) : hwloc_(std::move(hwloc)) {}

  std::shared_ptr<const Hwloc> hwloc_;
};

}  // namespace hierbar
