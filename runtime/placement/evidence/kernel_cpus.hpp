// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "topology/cpu_set.hpp"

namespace hierbar {

// What the kernel reports about cpus. More than 1024 cpus are supported.

// The cpus on which the kernel would let a thread of this process run, whatever it is bound to now:
// the cpuset of its control group (version 1 or 2, in a container or not), without cpus that are
// offline.
//
// A new thread asks for every cpu and reads what it got. So nothing need be known about control
// groups, and no other thread is changed. Where this is forbidden, the result is what the calling
// thread may run on now. Errors: no thread can be made, or the kernel does not report the cpus.
Result<CpuSet> probe_kernel_cpus();

// The cpus on which a thread may run now, the calling one by default. A process has the number of
// its main thread. Errors: the kernel does not report them.
Result<CpuSet> own_cpus(pid_t thread = 0);

// The cpus of the whole machine that are online; empty if they cannot be read. `sys` is where /sys
// is mounted; tests use another place.
CpuSet online_cpus(const std::string& sys = "/sys");

// Whether two of the cpus belong to one core. A file of /sys tells in most cases, where loading the
// machine would read dozens for each cpu. False if nothing can be read.
bool share_cores(const CpuSet& cpus, const std::string& sys = "/sys");

// How many cpus' worth of time the control groups leave this process, rounded up to whole cpus. It
// is the smallest quota / period of its group and all groups above, in version 2 (cpu.max) and
// version 1 (cpu.cfs_quota_us). No mask shows such a quota. Nothing if there is none or it cannot
// be read.
//
// `root` is put in front of /proc and of the mount points, for tests.
std::optional<std::uint32_t> read_cpu_quota(const std::string& root = "");

}  // namespace hierbar
