// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "base/environment.hpp"
#include "topology/cpu_set.hpp"

namespace hierbar {

// A variable that names cpus by number.
struct CpuList {
  std::string variable;
  std::string value;
  CpuSet cpus;
};

// Of OMP_PLACES, GOMP_CPU_AFFINITY ("0 3 1-2 4-15:2") and KMP_AFFINITY ("proclist=[0,2-4]"). Leaves
// out variables that name no cpus and lists that are not understood.
std::vector<CpuList> read_cpu_lists(const Environment& environment);

}  // namespace hierbar
