// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

// What a benchmark result must say about the machine. It is read from the kernel's files and
// without hwloc, so that the measuring processes stay small. `hierbar topo` shows the tree.

namespace hierbar::bench {

struct Host {
  std::string cpu_model;  // this and the texts below are "unknown" if the kernel does not tell
  std::string kernel;
  std::string governor;  // the frequency governor of the first allowed cpu
  std::string topology;  // "1 package, 1 NUMA node, 2 cores, 2 cpus (2 allowed)"
  bool hypervisor = false;

  // The cpus that this process may use: the first cpu of each core, then the second of each core,
  // and so on. So a team that takes cpus from the front has a core for each participant, as long as
  // there are enough cores.
  std::vector<int> cpus;
};

[[nodiscard]] Host describe_host();

// `git describe` of the tree that was built; "unknown" outside a repository. It is defined in a
// file of its own, which every build writes, so that a commit recompiles nothing else.
extern const char* const kRevision;

}  // namespace hierbar::bench
