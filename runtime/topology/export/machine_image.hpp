// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// A machine as words without pointers, so that one process of a node can load it for all. Cpus are
// written as ranges: the size of the image grows with the number of units, and not with the highest
// cpu number (140 kB for 4096 cores).
//
// Not for files: byte order and layout are those of this build. The first word has a version, and
// other versions are refused.
std::vector<std::uint32_t> machine_image(const Machine& machine);

// Errors: it is no such image, or one of another version; what contradicts the description of
// Machine. A reader of shared memory must copy the image before it calls this. load_ns is the time
// that loading took in the process that made the image.
Result<Machine> machine_from_image(std::span<const std::uint32_t> image);

}  // namespace hierbar
