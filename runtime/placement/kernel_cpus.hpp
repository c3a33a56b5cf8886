// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "topology/cpu_set.hpp"
#include "topology/result.hpp"

namespace hierbar {

// What the kernel says of cpus. More than 1024 of them work.

// The cpus that the kernel would let a thread of this process run on, whatever it is bound to now: the cpuset of its control
// group, version 1 or 2, of a container or not, without the cpus that are offline. A thread made for it asks for every cpu and
// reads what it got, so nothing has to be known about control groups and no other thread is touched. Where asking is forbidden,
// what the calling thread may run on now. Errors: no thread can be made, or the kernel does not tell.
Result<CpuSet> probe_kernel_cpus();

// What the calling thread may run on now. Errors: the kernel does not tell.
Result<CpuSet> own_cpus();

// The cpus that are online, of the whole machine; empty if they cannot be read. `sys` is where /sys is, for tests.
CpuSet online_cpus(const std::string& sys = "/sys");

}  // namespace hierbar
