// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include "report/timeline.hpp"

namespace hierbar::report {

// Larger files are hard to handle for viewers.
inline constexpr std::size_t kMostTraceBytes = 49'000'000;

// Writes Chrome's trace event format in JSON, which Perfetto reads. Slices must be nested. There is
// a process for each rank, a thread for each thread, and a complete event in ns for each slice. pid
// is rank + 1, because a viewer may not show 0; tid is the thread's number + 1. If not everything
// fits into `most` bytes, each thread's oldest barriers are left out and counted as dropped.
std::string to_perfetto(const Timeline& timeline, std::size_t most = kMostTraceBytes);

// Reads what to_perfetto() wrote. Throws std::runtime_error with the reason if it is something
// else.
Timeline parse_perfetto(const std::string& json);

}  // namespace hierbar::report
