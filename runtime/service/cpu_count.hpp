// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "topology/cpu_set.hpp"

namespace hierbar {

// On how many cpus the participants run, at most: those of their bindings. If one is unbound, or if
// there are no bindings, those that this process may use count as well (docs/design/waiting.md#d0015).
std::uint32_t count_cpus(const std::vector<CpuSet>& bindings);

}  // namespace hierbar
