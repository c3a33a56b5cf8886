// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "ompt-tools/ompt_api.h"
#include "ompt-tools/region.hpp"

namespace hierbar::ompt {

// A second OMPT tool behind this one, since a runtime takes only one: HIERBAR_OMPT_CHAIN. It sees every event as if it were
// alone.
//
//   Events that this tool needs too come to it from this tool's callbacks, which call what it has registered (chained()).
//   Events that carry a parallel_data, which is this tool's, come through a callback that puts the other tool's in its place.
//   All others go to it straight from the runtime; thread_data and task_data are its own.

// What the other tool has registered for the events that this tool needs; null where it has not.
struct ChainedCallbacks {
  ompt_callback_parallel_begin_t parallel_begin = nullptr;
  ompt_callback_parallel_end_t parallel_end = nullptr;
  ompt_callback_task_schedule_t task_schedule = nullptr;
  ompt_callback_implicit_task_t implicit_task = nullptr;
  ompt_callback_sync_region_t sync_region = nullptr;
};
[[gnu::visibility("hidden")]] extern ChainedCallbacks chained_callbacks;
// Inline, because every event asks.
inline const ChainedCallbacks& chained() noexcept { return chained_callbacks; }

// Loads the tool. Returns what its ompt_start_tool returned; null, with the reason in `problem`, when there is none, and null
// without a reason when it does not want to be active.
ompt_start_tool_result_t* load_chained(const std::string& path, unsigned omp_version, const char* runtime, std::string& problem);

// Lets the loaded tool initialise itself, after this tool has. Returns whether it stays active.
bool initialize_chained(ompt_function_lookup_t lookup, int initial_device);
void finalize_chained();
bool has_chained() noexcept;

// The other tool's parallel_data. Regions that have no Region yet, such as the initial one, get one.
ompt_data_t* chained_data(ompt_data_t* parallel);

}  // namespace hierbar::ompt
