// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

// What a benchmark result must say about the machine. Read from the kernel's files and without hwloc, so that the measuring
// processes stay small; `hierbar topo` shows the tree.
namespace hierbar::bench {

struct Host {
  std::string cpu_model;  // "unknown" where the kernel does not say; so for the texts below
  std::string kernel;
  std::string governor;  // frequency governor of the first allowed cpu
  std::string topology;  // "1 package, 1 NUMA node, 2 cores, 2 cpus (2 allowed)"
  bool hypervisor = false;

  // The cpus that this process may use: first one of every core, then the second of every core and so on, so that a team which
  // takes them from the front has a core of its own per participant as long as there are enough.
  std::vector<int> cpus;
};

[[nodiscard]] Host describe_host();

}  // namespace hierbar::bench
