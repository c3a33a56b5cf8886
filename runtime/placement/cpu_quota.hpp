// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hierbar {

// How many cpus' worth of time the control groups of this process leave it, rounded up to whole cpus: the smallest of
// quota / period on the way from its group to the root, in version 2 (cpu.max) and version 1 (cpu.cfs_quota_us). Such a quota
// does not show in any mask. Nothing if there is none or it cannot be read.
//
// `root` is put in front of /proc and of the mount points, for tests.
std::optional<std::uint32_t> read_cpu_quota(const std::string& root = "");

}  // namespace hierbar
