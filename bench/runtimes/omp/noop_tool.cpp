// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An OMPT tool that registers for the same events as libhierbar_ompt.so and does nothing with them.
// It shows what the runtime spends on having any tool.

#include "trace/ompt_api.h"

namespace {

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t*, unsigned, int,
                       const void*) {}
void on_parallel_end(ompt_data_t*, ompt_data_t*, int, const void*) {}
void on_implicit_task(int, ompt_data_t*, ompt_data_t*, unsigned, unsigned, int) {}
void on_sync_region(int, int, ompt_data_t*, ompt_data_t*, const void*) {}
void on_task_schedule(ompt_data_t*, int, ompt_data_t*) {}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const auto set_callback = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  if (set_callback == nullptr) return 0;
  set_callback(ompt_callback_parallel_begin, reinterpret_cast<ompt_callback_t>(on_parallel_begin));
  set_callback(ompt_callback_parallel_end, reinterpret_cast<ompt_callback_t>(on_parallel_end));
  set_callback(ompt_callback_implicit_task, reinterpret_cast<ompt_callback_t>(on_implicit_task));
  set_callback(ompt_callback_sync_region, reinterpret_cast<ompt_callback_t>(on_sync_region));
  set_callback(ompt_callback_task_schedule, reinterpret_cast<ompt_callback_t>(on_task_schedule));
  return 1;
}

void finalize(ompt_data_t*) {}

}  // namespace

extern "C" [[gnu::visibility("default")]] ompt_start_tool_result_t* ompt_start_tool(unsigned,
                                                                                    const char*) {
  static ompt_start_tool_result_t result = {initialize, finalize, {}};
  return &result;
}
