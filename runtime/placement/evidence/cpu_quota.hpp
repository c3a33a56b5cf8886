// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hierbar {

// How many cpus' worth of time the control groups leave this process, rounded up to whole cpus. It
// is the smallest quota / period of its group and all groups above, in version 2 (cpu.max) and
// version 1 (cpu.cfs_quota_us). No mask shows such a quota. Nothing if there is none or it cannot
// be read.
//
// `root` is put in front of /proc and of the mount points, for tests.
std::optional<std::uint32_t> read_cpu_quota(const std::string& root = "");

}  // namespace hierbar
