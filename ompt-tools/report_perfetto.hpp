// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include "ompt-tools/timeline.hpp"

namespace hierbar::ompt {

// Larger files are a trial for the viewers.
inline constexpr std::size_t kMostTraceBytes = 49'000'000;

// Chrome's trace event format in JSON, which Perfetto reads: a process for each rank (pid = rank + 1, since a viewer may not show
// 0), a thread for each (tid = its number + 1), complete events in ns. Slices must be nested. Of what does not fit into `most`
// bytes each thread's oldest barriers are left out and counted as dropped.
std::string to_perfetto(const Timeline& timeline, std::size_t most = kMostTraceBytes);

// Reads what to_perfetto() wrote. Throws std::runtime_error with the reason when it is something else.
Timeline parse_perfetto(const std::string& json);

}  // namespace hierbar::ompt
