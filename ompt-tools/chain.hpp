// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "trace/ompt_api.h"

namespace hierbar::report {

// A second OMPT tool behind this one (HIERBAR_OMPT_CHAIN), because a runtime takes only one tool.
// The second tool sees every event as if it were alone:
//
// - Events that this tool needs too: this tool's callbacks call those of the other one (chained()).
// - Events that carry a parallel_data: that is this tool's, so a callback replaces it by the other
//   tool's.
// - All other events: the runtime calls the other tool directly. thread_data and task_data are its
//   own.

// The other tool's callbacks for the events that this tool needs. Null if it has not registered
// one.
struct ChainedCallbacks {
  ompt_callback_parallel_begin_t parallel_begin = nullptr;
  ompt_callback_parallel_end_t parallel_end = nullptr;
  ompt_callback_task_schedule_t task_schedule = nullptr;
  ompt_callback_implicit_task_t implicit_task = nullptr;
  ompt_callback_sync_region_t sync_region = nullptr;
};
[[gnu::visibility("hidden")]] extern ChainedCallbacks chained_callbacks;
// Inline, because every event calls it.
inline const ChainedCallbacks& chained() noexcept { return chained_callbacks; }

// Loads the tool, and returns what its ompt_start_tool returned. Null without a problem means that
// the tool does not want to be active. If there is no tool, returns null and sets `problem`.
ompt_start_tool_result_t* load_chained(const std::string& path, unsigned omp_version,
                                       const char* runtime, std::string& problem);

// Initialises the loaded tool. Must come after this tool's own initialisation. Returns whether the
// tool stays active.
bool initialize_chained(ompt_function_lookup_t lookup, int initial_device);
void finalize_chained();
bool has_chained() noexcept;

// The other tool's parallel_data. A region without a Region, such as the initial one, gets one
// here.
ompt_data_t* chained_data(ompt_data_t* parallel);

}  // namespace hierbar::report
